/// The namespaces and classes that a function of C++ is in.
struct CxxScopes {
  /// What is in front of names in each, the innermost first and what is in none last: `app::Cache<int>::`,
  /// `app::`, ``.
  private let scopes: [String]

  /// - Parameter function: Its name without parameters.
  init(of function: String) {
    var scanner = TextScanner(function)
    var scopes = [""]
    while let byte = scanner.current {
      if TextScanner.isOpening(byte) {
        _ = scanner.skipGroup()
      } else if scanner.skip("::") {
        scopes.append(String(nameBytes: scanner.bytes[..<scanner.position]))
      } else {
        scanner.position += 1
      }
    }
    self.scopes = scopes.reversed()
  }

  /// The innermost scope that fits.
  ///
  /// - Parameter fits: Gets a scope without the arguments of templates, `app::Cache<>::`.
  /// - Returns: The scope with these; nil where none fits.
  func innermost(_ fits: (String) -> Bool) -> String? {
    scopes.first { fits(Self.withoutArguments($0)) }
  }

  /// The scopes that are in an instance of a template, or are one, the innermost first: `app::Cache<int>::`.
  var instances: [String] { scopes.filter { $0.utf8.contains(UInt8(ascii: "<")) } }

  /// The innermost of the scopes that is an instance of a template.
  ///
  /// - Parameter name: The template's, without what it is in: `Cache`.
  /// - Returns: `app::Cache<int>`; nil where none is.
  func instance(ofTemplate name: String) -> String? {
    innermost { $0 == name + "<>::" || $0.hasSuffix("::" + name + "<>::") }
      .map { String($0.dropLast(2)) }
  }

  /// A name without the arguments of its templates: `app::Cache<>::` of `app::Cache<int>::`.
  static func withoutArguments(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "<")) else { return name }
    var scanner = TextScanner(name)
    var bytes: [UInt8] = []
    while let byte = scanner.current {
      if byte == UInt8(ascii: "<") {
        _ = scanner.skipGroup()
        bytes += [byte, UInt8(ascii: ">")]
      } else {
        bytes.append(byte)
        scanner.position += 1
      }
    }
    return String(nameBytes: bytes[...])
  }
}
