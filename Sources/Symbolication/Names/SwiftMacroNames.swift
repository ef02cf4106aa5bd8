/// Makes readable what Swift's macros write.
///
/// The names that a macro asks the compiler for are symbols themselves, with the place of the macro
/// among other things, and the lines of its code are in files that there are only in debug
/// information.
public enum SwiftMacroNames {
  /// A demangled name with the names that macros made in readable form: `Suite.$s3app5SuiteV4push4`
  /// `TestfMp_17Z94343432071e513cfMu_` becomes `Suite.@Test push`.
  static func readable(_ name: String) -> String {
    guard name.contains("fM") else { return name }
    var scanner = TextScanner(name)
    var result: [UInt8] = []
    while let byte = scanner.current {
      let start = scanner.position
      scanner.position += 1
      guard byte == UInt8(ascii: "$"),
        start == 0 || !TextScanner.isIdentifier(scanner.bytes[start - 1])
      else {
        result.append(byte)
        continue
      }
      while let next = scanner.current, TextScanner.isIdentifier(next) { scanner.position += 1 }
      let symbol = String(nameBytes: scanner.bytes[start..<scanner.position])
      result += Array((Demangler.swiftText(of: symbol).flatMap(unique) ?? symbol).utf8)
    }
    return String(nameBytes: result)
  }

  /// The use of a macro that a demangled name speaks of: `#expect`, `@Test push`.
  ///
  /// - Parameter name: Such as `peer macro @Test expansion #1 of push in app.Suite`.
  /// - Returns: nil where the name speaks of none.
  static func use(_ name: some StringProtocol) -> String? {
    if name.hasPrefix(freestanding), let of = name.firstRange(of: " of ") {
      return "#" + target(name[of.upperBound...])
    }
    guard let at = name.firstRange(of: " macro @"),
      let expansion = name[at.upperBound...].firstRange(of: " expansion #"),
      let of = name[expansion.upperBound...].firstRange(of: " of ")
    else { return nil }
    let macro = name[at.upperBound..<expansion.lowerBound]
    guard !macro.contains(" ") else { return nil }
    return "@\(macro) " + target(name[of.upperBound...])
  }

  /// What a macro is used for or as, without what that is in.
  private static func target(_ text: some StringProtocol) -> String {
    SwiftNameShortener.split(String(text)).first ?? ""
  }

  /// Where the code of a macro comes from, for the file that the compiler gives it.
  ///
  /// - Parameters:
  ///   - file: The name of the file, such as `@__swiftmacro_3app5SuiteV4push4TestfMp_.swift`.
  ///   - line: The line in it.
  /// - Returns: `suite.swift:12` for a macro in an expression, `@Test push:3` for one at a
  ///   declaration; nil for another file.
  public static func place(inFile file: String, line: Int?) -> String? {
    var (file, line) = (file, line)
    // A macro may be used in what another one wrote.
    for _ in 0..<deepest {
      guard file.hasPrefix(filePrefix), file.hasSuffix(".swift"),
        let name = Demangler.swiftText(of: String(file.dropLast(6))), let use = use(name)
      else { break }
      guard let place = source(name) else { return line.map { "\(use):\($0)" } ?? use }
      (file, line) = (place.file, place.line)
      if !file.hasPrefix(filePrefix) { return "\(file):\(place.line)" }
    }
    return nil
  }

  private static let freestanding = "freestanding macro expansion #"
  private static let filePrefix = "@__swiftmacro_"
  private static let deepest = 4

  /// `unique name #1 of Z94343432071e513c in peer macro @Test expansion #1 of push in app.Suite`
  /// is `@Test push`; with another name than `Z`, as in `accessor of @Test push`, that is kept.
  static func unique(_ name: String) -> String? {
    guard name.hasPrefix("unique name #"), let of = name.firstRange(of: " of "),
      let separator = name[of.upperBound...].firstRange(of: " in ")
    else { return nil }
    let whole = name[of.upperBound..<separator.lowerBound]
    guard let use = use(name[separator.upperBound...]) else { return String(whole) }
    // A hash that begins with a digit has a `Z` in front of it.
    let own = withoutHash(whole)
    return own.isEmpty || own == "Z" ? use : "\(own) of \(use)"
  }

  /// What Swift Testing puts behind its names changes with the declaration.
  private static func withoutHash(_ name: Substring) -> String {
    let hash = name.reversed().prefix { $0.isHexDigit }
    return String(hash.count < shortestHash ? name : name.dropLast(min(hash.count, longestHash)))
  }

  private static let (shortestHash, longestHash) = (12, 16)

  /// `… in module app file suite.swift line 12 column 5`.
  private static func source(_ name: String) -> (file: String, line: Int)? {
    guard let found = name.ranges(of: " file ").last, let end = name.ranges(of: " line ").last,
      found.upperBound <= end.lowerBound,
      let line = Int(name[end.upperBound...].prefix { $0.isNumber })
    else { return nil }
    return (String(name[found.upperBound..<end.lowerBound]), line)
  }
}
