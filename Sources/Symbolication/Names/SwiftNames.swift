/// What the mangling of a Swift name tells without demangling it.
enum SwiftNames {
  /// Whether the symbol begins as Swift's do, old manglings included.
  static func isMangled(_ symbol: String) -> Bool {
    prefixes.contains { symbol.hasPrefix($0) } || symbol.hasPrefix("_T0")
      || symbol.hasPrefix("@__swiftmacro_")
  }

  /// Shortens a demangled name; see ``SwiftNameShortener``.
  static func short(_ name: String) -> String {
    SwiftNameShortener.shorten(name)
  }

  /// Drops argument labels: `closure #1 in Foo.bar(_:)` -> `closure #1 in Foo.bar`.
  static func withoutLabels(_ name: String) -> String {
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    while let byte = scanner.current {
      let start = scanner.position
      if scanner.skipQuoted() {
        result += scanner.bytes[start..<scanner.position]
      } else if byte == UInt8(ascii: "("), !result.isEmpty, result.last != UInt8(ascii: " ") {
        _ = scanner.skipGroup()
      } else {
        result.append(byte)
        scanner.position += 1
      }
    }
    return String(nameBytes: result)
  }

  /// Whether the function allocates an object of a class and initializes it, that is not one of its closures.
  static func isAllocatingInitializer(_ function: FunctionName) -> Bool {
    guard function.language == .swift else { return false }
    let name = function.base
    return name.hasPrefix("__allocating_init in ")
      || name.hasSuffix(".__allocating_init") && !TextSearch.holds(name, " in ")
      || isInitializerOfExtendedClass(function)
  }

  /// Whether the function is such an initializer in an extension that is constrained or in another module, of which its
  /// readable name does not tell: `4NodeC…fC` is of a class, `4NodeV…fC` of a structure.
  private static func isInitializerOfExtendedClass(_ function: FunctionName) -> Bool {
    guard function.raw.hasSuffix("fC"), function.full.hasPrefix("(extension in "),
      function.base.hasSuffix(".init"),
      let type = function.base.dropLast(5).split(separator: ".").last
    else { return false }
    return function.raw.firstRange(of: "\(type.utf8.count)\(type)C") != nil
  }

  /// Whether the function is part of the standard library, or a specialization of such a part.
  ///
  /// - Parameters:
  ///   - raw: The symbol.
  ///   - full: Its demangled text: an extension of `Array` by another module is not the library's.
  /// - Returns: `false` for what is not mangled.
  static func isOfStandardLibrary(raw: String, full: String) -> Bool {
    guard let module = module(of: raw), runtimeModules.contains(module) else { return false }
    return extendingModule(full).map(runtimeModules.contains) ?? true
  }

  /// Whether the function belongs to a library that comes with the toolchain, or is a
  /// specialization of such a part.
  ///
  /// - Parameters:
  ///   - raw: The symbol.
  ///   - full: Its demangled text: of an extension the module counts that it is in.
  /// - Returns: `false` for what is not mangled.
  static func isOfSystemLibrary(raw: String, full: String) -> Bool {
    guard prefixes.contains(where: raw.hasPrefix) else { return false }
    let (module, extending) = (module(of: raw), extendingModule(full))
    // What is imported from C and C++ has no module.
    let isOfLibrary = module.map { systemModules.contains($0) || runtimeModules.contains($0) }
    return (isOfLibrary ?? (extending != nil))
      && (extending ?? module).map(systemModules.contains) == true
  }

  /// The module of an extension of another module's type; nil for what is in none.
  private static func extendingModule(_ full: String) -> String? {
    let entity = SwiftNameShortener.withoutWrappers(full).entity
    guard let start = entity.firstRange(of: "(extension in ") else { return nil }
    return String(entity[start.upperBound...].prefix { $0 != ")" })
  }

  /// The module that a symbol begins with; `nil` where the mangling begins otherwise.
  ///
  /// `$s1t3FooV…` is of module `t`; `$ss…` and `$sSa…` (Array) are of `Swift`.
  /// https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst
  static func module(of raw: String) -> String? {
    guard let prefix = prefixes.first(where: raw.hasPrefix) else { return nil }
    let rest = raw.utf8.dropFirst(prefix.utf8.count)
    guard let first = rest.first else { return nil }
    if first == UInt8(ascii: "s") { return "Swift" }
    if first == UInt8(ascii: "S"), let second = rest.dropFirst().first {
      return second == UInt8(ascii: "o") || second == UInt8(ascii: "C") ? nil : "Swift"
    }
    let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    guard digits.first != UInt8(ascii: "0"), let length = Int(String(Substring(digits))),
      length <= rest.count
    else { return nil }
    return String(Substring(rest.dropFirst(digits.count).prefix(length)))
  }

  private static let prefixes = ["$s", "$S", "_$s", "_$S", "$e", "_$e"]

  private static let runtimeModules: Set<String> = [
    "Swift", "_Concurrency", "_StringProcessing", "_RegexParser", "Synchronization",
    "SwiftOnoneSupport", "Distributed", "_Builtin_float",
  ]

  private static let systemModules: Set<String> = [
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking",
    "FoundationXML", "_FoundationCollections", "Dispatch", "Glibc", "Musl", "RegexBuilder",
    "Observation", "Cxx", "CxxStdlib",
  ]
}
