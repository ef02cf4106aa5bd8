import Reports

/// Tells mistyped kinds of suppressions from those that other tools have.
enum MistypedKind {
  /// Looks at a kind that is none of ours.
  ///
  /// - Throws: ``GateError`` when it is nearly one: to leave it out silently would leave a user
  ///   wondering why nothing is hidden.
  static func check(
    _ kind: some StringProtocol, place: String, known: [String]
  ) throws(GateError) {
    guard let meant = known.first(where: { isSlip(of: $0, String(kind)) }) else { return }
    throw GateError("\(place): there is no kind '\(kind)'; did you mean '\(meant)'?")
  }

  /// Whether a text is a word but for its case, one letter, or two letters that changed places.
  private static func isSlip(of word: String, _ text: String) -> Bool {
    let (word, text) = (Array(word.lowercased()), Array(text.lowercased()))
    let start = zip(word, text).prefix { $0 == $1 }.count
    let (left, right) = (word.dropFirst(start), text.dropFirst(start))
    if left.dropFirst() == right.dropFirst() || left.dropFirst() == right
      || left == right.dropFirst()
    {
      return true
    }
    return left.count >= 2 && left.prefix(2).reversed() == Array(right.prefix(2))
      && left.dropFirst(2) == right.dropFirst(2)
  }
}
