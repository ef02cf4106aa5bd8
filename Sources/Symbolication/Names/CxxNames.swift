/// Shortens demangled C++ names.
enum CxxNames {
  /// Drops what the compiler added: default template arguments, inline namespaces, ABI tags,
  /// suffixes of clones.
  ///
  /// - Parameter name: Demangled, without the return type.
  /// - Returns: The name as it is where its brackets do not match.
  static func short(_ name: String) -> String {
    let plain = removingNoise(name)
    guard plain.utf8.contains(UInt8(ascii: "<")) else { return plain }
    var rewriter = CxxTemplateRewriter(plain)
    return rewriter.rewrite() ?? plain
  }

  /// Drops parameter lists and the qualifiers behind them: `Foo::bar(int) const` -> `Foo::bar`.
  static func withoutParameters(_ name: String) -> String {
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    while let byte = scanner.current {
      if scanner.looksAt("(anonymous namespace)") || scanner.looksAt("operator()") {
        let length = scanner.looksAt("operator()") ? 10 : 21
        result += scanner.bytes[scanner.position..<scanner.position + length]
        scanner.position += length
      } else if copyOperator(&scanner, to: &result) {
        continue
      } else if byte == UInt8(ascii: "("), !result.isEmpty {
        _ = scanner.skipGroup()
        skipQualifiers(&scanner)
      } else if TextScanner.isOpening(byte) {
        let start = scanner.position
        _ = scanner.skipGroup()
        result += scanner.bytes[start..<scanner.position]
      } else {
        result.append(byte)
        scanner.position += 1
      }
    }
    return result.isEmpty ? name : String(nameBytes: result)
  }

  /// Copies `operator<<` and its like, whose brackets are none.
  static func copyOperator(_ scanner: inout TextScanner, to result: inout [UInt8]) -> Bool {
    guard scanner.looksAt("operator"), !(scanner.previous.map(TextScanner.isIdentifier) ?? false)
    else { return false }
    result += Array("operator".utf8)
    scanner.position += 8
    if scanner.looksAt("()") || scanner.looksAt("[]") {
      result += scanner.bytes[scanner.position..<scanner.position + 2]
      scanner.position += 2
      return true
    }
    let signs = Array("<>=!+-*/%^&|~,".utf8)
    while let byte = scanner.current, signs.contains(byte) {
      result.append(byte)
      scanner.position += 1
    }
    return true
  }

  private static func skipQualifiers(_ scanner: inout TextScanner) {
    while scanner.skip(" const") || scanner.skip(" volatile") || scanner.skip(" &&")
      || scanner.skip(" &") || scanner.skip(" noexcept")
    {}
  }

  private static func removingNoise(_ name: String) -> String {
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    result.reserveCapacity(scanner.bytes.count)
    while let byte = scanner.current {
      if scanner.looksAt(" [clone ") || scanner.looksAt("[abi:") {
        if byte == UInt8(ascii: " ") { scanner.position += 1 }
        _ = scanner.skipGroup()
      } else if scanner.skip("std::__cxx11::") || scanner.skip("std::__1::")
        || scanner.skip("std::__ndk1::")
      {
        result += Array("std::".utf8)
      } else {
        result.append(byte)
        scanner.position += 1
      }
    }
    return String(nameBytes: result)
  }
}
