import CSymbolication

/// Turns mangled symbols into readable names.
public enum Demangler {
  /// The name of a symbol in all its spellings.
  ///
  /// - Parameter symbol: As in a symbol table or `DW_AT_linkage_name`; a version such as
  ///   `@@GLIBC_2.14` is dropped. A name that no demangler knows is taken as it is.
  /// - Returns: All spellings of the name.
  public static func name(of symbol: String) -> FunctionName {
    let raw = withoutVersion(symbol)
    guard raw.utf8.count <= longestSymbol else { return FunctionName(plain: raw) }
    if raw.hasPrefix("_R") || raw.hasPrefix("_ZN"), let name = rust(raw) { return name }
    if raw.hasPrefix("_Z") || raw.hasPrefix("___Z") || raw.hasPrefix("_GLOBAL__"),
      let name = cxx(raw)
    {
      return name
    }
    if raw.hasPrefix("_D"), let name = d(raw) { return name }
    if let name = swift(raw) { return name }
    let short = withoutResumePoint(withoutCloneSuffix(raw))
    return FunctionName(raw: raw, short: short, full: raw, base: short, language: .plain)
  }

  private static let longestSymbol = 32 << 10
  /// In one name; each may take a tenth of a second.
  private static let mostSymbols = 8

  private static func rust(_ raw: String) -> FunctionName? {
    guard let full = take(mt_demangle_rust(raw, MT_DEMANGLE_FULL)) else { return nil }
    let brief = take(mt_demangle_rust(raw, MT_DEMANGLE_BRIEF)) ?? full
    let short = RustNames.short(brief)
    return FunctionName(raw: raw, short: short, full: full, base: short, language: .rust)
  }

  private static func d(_ raw: String) -> FunctionName? {
    guard let name = take(mt_demangle_d(raw)) else { return nil }
    return FunctionName(
      raw: raw, short: name, full: name, base: DNames.withoutParameters(name), language: .d)
  }

  private static func cxx(_ raw: String) -> FunctionName? {
    let symbol = CoroutineNames.coroutine(ofPart: raw) ?? raw
    guard let full = take(mt_demangle_cxx(symbol, MT_DEMANGLE_FULL)) else {
      return mergedCxx(raw)
    }
    let brief = take(mt_demangle_cxx(symbol, MT_DEMANGLE_BRIEF)) ?? full
    let short = CxxNames.short(brief)
    return FunctionName(
      raw: raw, short: short, full: full, base: CxxNames.withoutParameters(short), language: .cxx)
  }

  /// A function of C++ that Swift's compiler has merged with others, as it does where a program of Swift uses C++:
  /// `Tm` stands behind its symbol, which is none of C++ then.
  private static func mergedCxx(_ raw: String) -> FunctionName? {
    let symbol = raw.dropLast(2)
    guard raw.hasSuffix("Tm"), !symbol.hasSuffix("Tm"), let one = cxx(String(symbol)) else {
      return nil
    }
    let mark = FunctionName.mergedMark
    return FunctionName(
      raw: raw, short: one.short + mark, full: "merged \(one.full)", base: one.base + mark,
      language: .cxx)
  }

  /// The whole text of a Swift symbol; nil where it is none.
  static func swiftText(of symbol: String) -> String? {
    guard symbol.utf8.count <= longestSymbol, SwiftNames.isMangled(symbol) else { return nil }
    return take(mt_demangle_swift(symbol, symbol.utf8.count)).flatMap { $0 == symbol ? nil : $0 }
  }

  private static func swift(_ raw: String) -> FunctionName? {
    guard let full = swiftText(of: raw) else { return nil }
    let short = SwiftNames.short(full)
    return FunctionName(
      raw: raw, short: short, full: withReadableClosures(full),
      base: SwiftNames.withoutLabels(short), language: .swift)
  }

  /// Demangles the symbols in what a function was specialized for:
  /// `[Closure Propagated : $s2cs3run…, …]`.
  private static func withReadableClosures(_ full: String) -> String {
    guard full.contains(" Propagated") else { return full }
    var scanner = TextScanner(full)
    var result: [UInt8] = []
    var symbols = 0
    while let byte = scanner.current {
      let start = scanner.position
      guard scanner.looksAt("$s"), scanner.previous == UInt8(ascii: " "), symbols < mostSymbols,
        scanner.skipName()
      else {
        result.append(byte)
        scanner.position += 1
        continue
      }
      symbols += 1
      let symbol = String(nameBytes: scanner.bytes[start..<scanner.position])
      result += Array((swiftText(of: symbol) ?? symbol).utf8)
    }
    return String(nameBytes: result)
  }

  /// Takes over a string of the C side.
  private static func take(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { mt_demangle_release(text) }
    return String(cString: text)
  }

  private static func withoutVersion(_ symbol: String) -> String {
    guard let at = symbol.utf8.firstIndex(of: UInt8(ascii: "@")), at != symbol.startIndex else {
      return symbol
    }
    return String(symbol[..<at])
  }

  /// `async_MainTY1_` -> `async_Main`: the parts of a Swift program's asynchronous main code.
  private static func withoutResumePoint(_ name: String) -> String {
    let main = "async_Main"
    guard name.hasPrefix(main), name.hasSuffix("_") else { return name }
    let suffix = name.dropFirst(main.count)
    guard suffix.hasPrefix("TY") || suffix.hasPrefix("TQ") else { return name }
    return suffix.dropFirst(2).dropLast().allSatisfy(\.isNumber) ? main : name
  }

  /// `parse.constprop.0` -> `parse`; a dot that is not gcc's stays.
  private static func withoutCloneSuffix(_ name: String) -> String {
    guard let dot = name.firstIndex(of: "."), dot != name.startIndex else { return name }
    let suffix = name[dot...]
    return cloneSuffixes.contains { suffix.hasPrefix($0) } ? String(name[..<dot]) : name
  }

  private static let cloneSuffixes = [
    ".constprop.", ".part.", ".isra.", ".cold", ".lto_priv.", ".llvm.", ".localalias",
  ]
}
