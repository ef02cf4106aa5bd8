/// The parameters of generic functions in the demangled types of what closures capture: `A`, `B`.
enum GenericParameters {
  /// Writes parameters as programs call them: `(A.Element, B1)` becomes `(T.Element, U1)`.
  ///
  /// The program's own names are not in the type. To be called before `Swift.` is left out: no
  /// other type has a name without its module.
  ///
  /// - Parameters:
  ///   - name: The type.
  ///   - hasMembers: Whether a path that begins with such a letter may be an associated type, not a
  ///     module.
  /// - Returns: The type with those letters.
  static func lettered(_ name: String, hasMembers: Bool) -> String {
    rewritten(name) { path in
      guard hasMembers || path.count == 1, isParameter(path[0]), let first = path[0].utf8.first,
        first <= UInt8(ascii: "G")
      else { return path }
      let letter = Character(Unicode.Scalar(first + 19))
      return ["\(letter)\(path[0].dropFirst())"] + path.dropFirst()
    }
  }

  /// Leaves out the protocols of associated types: `A.Swift.Sequence.Element` is `A.Element`.
  static func withoutProtocols(_ name: String) -> String {
    rewritten(name) { path in
      // Each associated type stands behind its protocol, and that behind its module.
      guard isParameter(path[0]), path.count > 3, path.count % 3 == 1 else { return path }
      return [path[0]] + stride(from: 3, to: path.count, by: 3).map { path[$0] }
    }
  }

  /// Puts arguments in the place of parameters: in `var A`, with `A` for `Swift.Int`, `var Swift.Int`.
  ///
  /// - Parameters:
  ///   - parameters: Their names in the type.
  ///   - arguments: As many as parameters, else nothing is replaced.
  ///   - name: The type.
  /// - Returns: The type with its arguments. An associated type of a parameter stays as it is.
  static func replacing(_ parameters: [String], by arguments: [String], in name: String) -> String {
    guard parameters.count == arguments.count else { return name }
    return rewritten(name) { path in
      guard path.count == 1, let index = parameters.firstIndex(of: String(path[0])) else {
        return path
      }
      return [Substring(arguments[index])]
    }
  }

  /// Whether the demangler makes such names: a letter, with the depth behind it where that is not 0.
  private static func isParameter(_ name: Substring) -> Bool {
    guard let first = name.utf8.first, (0x41...0x5a).contains(first) else { return false }
    return name.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The text with each dotted path as `change` gives it, from its components.
  private static func rewritten(
    _ name: String, _ change: ([Substring]) -> [Substring]
  ) -> String {
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    while let byte = scanner.current {
      let start = scanner.position
      scanner.position += 1
      guard TextScanner.isIdentifier(byte) else {
        result.append(byte)
        continue
      }
      while let next = scanner.current, TextScanner.isIdentifier(next) || next == UInt8(ascii: ".")
      {
        scanner.position += 1
      }
      let path = String(nameBytes: scanner.bytes[start..<scanner.position])
        .split(separator: ".", omittingEmptySubsequences: false)
      result += Array(change(path).joined(separator: ".").utf8)
    }
    return String(nameBytes: result)
  }
}
