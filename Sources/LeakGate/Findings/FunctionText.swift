import Symbolication

/// Names of functions without what changes from build to build.
enum FunctionText {
  /// The name without offsets, generic arguments, parameters of C++, numbers and clones.
  static func normalised(_ name: String) -> String {
    var text = withoutBrackets(name)
    text = CxxFunctionText.normalised(withoutClone(text))
    text = withoutNumbers(text)
    return withoutOffset(text)
  }

  /// Leaves out `<…>` with all that is nested in it; the operators of C++ stay.
  private static func withoutBrackets(_ name: String) -> String {
    guard name.contains("<") else { return name }
    var result = ""
    var depth = 0
    for character in name {
      switch character {
      case "<" where !result.hasSuffix("operator") && !result.hasSuffix("operator<"):
        // `<unknown>` and other markers are names themselves.
        if depth == 0 && result.isEmpty { return name }
        depth += 1
      case ">" where depth > 0 && !result.hasSuffix("-"): depth -= 1
      case _ where depth > 0: continue
      default: result.append(character)
      }
    }
    return depth == 0 ? result : name
  }

  /// Cuts what compilers put behind the names of copies: `.constprop.0`, `.cold`, ` [clone .part]`,
  /// ` [merged]` of Swift, and the hash of Rust: `::h0123456789abcdef`.
  private static func withoutClone(_ name: String) -> String {
    var text = FunctionName.withoutMergedMark(name)[...]
    // Few names have any of it, and a search is prepared anew for each.
    if TextSearch.holds(name, " [clone "), let clone = text.firstRange(of: " [clone ") {
      text = text[..<clone.lowerBound]
    }
    for mark in cloneMarks where text.utf8.contains(UInt8(ascii: ".")) {
      if let clone = text.firstRange(of: mark), clone.lowerBound > text.startIndex {
        text = text[..<clone.lowerBound]
      }
    }
    if TextSearch.holds(name, "::h"), let hash = text.firstRange(of: "::h"),
      text[hash.upperBound...].utf8.count == 16,
      text[hash.upperBound...].allSatisfy(\.isHexDigit)
    {
      text = text[..<hash.lowerBound]
    }
    return String(text)
  }

  private static let cloneMarks = [
    ".constprop.", ".isra.", ".part.", ".cold", ".llvm.", ".lto_priv.", ".localalias",
    ".specialized", ".resume.", ".suspend.", ".cleanup.",
  ]

  /// Drops the numbers of closures, lambdas and local functions: `closure #2 in f` and
  /// `{lambda(int)#1}`.
  private static func withoutNumbers(_ name: String) -> String {
    guard name.contains("#") else { return name }
    var result = ""
    var isNumber = false
    for character in name {
      if character == "#" {
        isNumber = true
      } else if !(isNumber && character.isNumber) {
        // `closure #1 in` has a space on either side of its number.
        if !(isNumber && character == " " && result.hasSuffix(" ")) { result.append(character) }
        isNumber = false
      }
    }
    return result
  }

  /// `libx.so+0x1234` and `0x7f12` become `libx.so` and `code`.
  private static func withoutOffset(_ name: String) -> String {
    if name.hasPrefix("0x"), name.dropFirst(2).allSatisfy(\.isHexDigit) { return "code" }
    guard let plus = name.ranges(of: "+0x").last,
      name[plus.upperBound...].allSatisfy(\.isHexDigit)
    else { return name }
    return ImageText.normalised(String(name[..<plus.lowerBound]))
  }
}

/// Names of images without their versions.
enum ImageText {
  /// `libx.so.1.2` becomes `libx.so`, `libx-2.31.so` becomes `libx.so`.
  static func normalised(_ name: String) -> String {
    var text = name[...]
    if let suffix = text.firstRange(of: ".so.") { text = text[..<suffix.lowerBound] + ".so" }
    guard text.hasSuffix(".so"), let dash = text.lastIndex(of: "-") else { return String(text) }
    let version = text[text.index(after: dash)...].dropLast(3)
    guard version.first?.isNumber == true, version.allSatisfy({ $0.isNumber || $0 == "." }) else {
      return String(text)
    }
    return text[..<dash] + ".so"
  }
}
