/// Counted nouns, and the verbs that follow them.
package enum CountText {
  /// What a counted noun does.
  package enum Verb {
    case was, has, `is`

    /// The form behind a number of things.
    func text(_ count: UInt64) -> String {
      switch self {
      case .was: count == 1 ? "was" : "were"
      case .has: count == 1 ? "has" : "have"
      case .is: count == 1 ? "is" : "are"
      }
    }
  }

  /// `1 block`, `1,024 blocks`.
  static func blocks(_ count: UInt64) -> String { of(count, "block") }

  /// `1 error`, `2 errors`.
  package static func of(_ count: UInt64, _ noun: String) -> String {
    count == 1 ? "1 \(noun)" : "\(count.grouped) \(noun)s"
  }

  /// `1 finding`, `1024 findings`: without separators, for what programs may read.
  package static func plain(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  /// `… 1 more row`, `… 1,024 more rows`: what a list leaves out.
  package static func more(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    let counted = count == 1 ? "1 more \(noun)" : "\(count.grouped) more \(plural ?? noun + "s")"
    return "… \(counted)"
  }

  /// `1 event was`, `2 events were`.
  package static func of(_ count: UInt64, _ noun: String, _ verb: Verb) -> String {
    "\(of(count, noun)) \(verb.text(count))"
  }
}
