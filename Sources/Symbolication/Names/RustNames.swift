/// Shortens demangled Rust names and completes them from debug information.
enum RustNames {
  /// Drops the hash that ends a legacy name, and suffixes of the linker's clones.
  static func short(_ name: String) -> String {
    withoutLongArguments(withoutTypesOfConstants(withoutHash(name)))
  }

  /// The name of a variable without the hashes by which compilers tell versions of crates apart; other names as
  /// they are.
  static func variable(_ name: String) -> String {
    withoutHash(name.replacing(#/\[[0-9a-f]{8,16}\](?=::)/#, with: ""))
  }

  /// `[u64; 20: usize]` -> `[u64; 20]`, as the compiler writes it.
  static func withoutTypesOfConstants(_ name: String) -> String {
    guard name.firstRange(of: ": ") != nil else { return name }
    var parts = name.split(separator: ": ", omittingEmptySubsequences: false)
    for index in parts.indices.dropFirst() {
      let type = parts[index].prefix { $0.isLetter || $0.isNumber }
      parts[index] =
        constantTypes.contains(type) ? parts[index][type.endIndex...] : ": " + parts[index]
    }
    return parts.joined()
  }

  private static let constantTypes: Set<Substring> = [
    "usize", "u8", "u16", "u32", "u64", "u128", "isize", "i8", "i16", "i32", "i64", "i128", "bool",
    "char",
  ]

  private static func withoutHash(_ name: String) -> String {
    var result = Substring(name)
    if let clone = result.firstRange(of: ".llvm.") { result = result[..<clone.lowerBound] }
    let bytes = result.utf8
    if bytes.count > hashLength {
      let tail = bytes.suffix(hashLength)
      let isHash =
        tail.starts(with: "::h".utf8)
        && tail.dropFirst(3).allSatisfy {
          UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
            || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
        }
      if isHash { result = result.dropLast(hashLength) }
    }
    return String(result)
  }

  /// Drops generic arguments at the end that would fill a line: those of iterators nest deeply.
  private static func withoutLongArguments(_ name: String) -> String {
    guard name.hasSuffix(">"), let start = name.firstRange(of: "::<"),
      name[start.lowerBound...].utf8.count > longestArguments
    else { return name }
    return String(name[..<start.lowerBound])
  }

  /// Adds the generic arguments of the debug information to a name's short forms.
  static func complete(_ name: FunctionName, withDebugName debugName: String) -> FunctionName {
    let short = complete(name.short, withDebugName: debugName, longest: longestArguments)
    // Symbols of version 0 have their arguments already.
    let path = name.raw.hasPrefix("_ZN") ? withoutHash(name.full) : ""
    let full = complete(path, withDebugName: debugName, longest: .max)
    return FunctionName(
      raw: name.raw, short: short, full: full.hasSuffix(">") ? full : name.full,
      base: short, language: .rust)
  }

  /// Adds the generic arguments that a legacy symbol lacks but the DWARF name has.
  ///
  /// `alloc::boxed::Box<T>::new` and `new<d::Foo>` give `alloc::boxed::Box<T>::new<d::Foo>`.
  ///
  /// - Parameters:
  ///   - path: The name of the symbol.
  ///   - debugName: The name in the debug information.
  ///   - longest: Longer arguments are left out.
  /// - Returns: The path as it was where there is nothing to add.
  static func complete(
    _ path: String, withDebugName debugName: String, longest: Int = longestArguments
  ) -> String {
    guard let bracket = debugName.utf8.firstIndex(of: UInt8(ascii: "<")),
      bracket != debugName.startIndex, !path.hasSuffix(">"),
      path.hasSuffix("::" + debugName[..<bracket]),
      debugName[bracket...].utf8.count <= longest
    else { return path }
    return path + debugName[bracket...]
  }

  static let longestArguments = 48
  private static let hashLength = 19  // "::h" and 16 digits
}
