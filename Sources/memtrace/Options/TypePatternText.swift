/// What can be the name of a type, of those that are given to an option.
enum TypePatternText {
  /// Whether a word is the name of a file or an address instead.
  static func cannotBe(_ word: String) -> Bool {
    word.contains("/") || word.hasPrefix("0x") || word.hasSuffix(".mtrace")
      || word.hasSuffix(".mtrace.zst")
  }
}
