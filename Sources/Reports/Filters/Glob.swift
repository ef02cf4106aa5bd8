import Symbolication

/// Names with `*` for any text and `?` for any one character.
public enum Glob {
  /// Whether the whole of `text` fits `pattern`, whatever the case of letters unless that counts.
  ///
  /// - Complexity: O(*n* · *m*): one star is undone at a time, so no pattern takes longer.
  public static func matches(
    _ text: String, _ pattern: String, caseSensitive: Bool = false
  ) -> Bool {
    let text = Array(caseSensitive ? text : text.lowercased())
    let pattern = Array(caseSensitive ? pattern : pattern.lowercased())
    var (position, wanted) = (0, 0)
    var star: (pattern: Int, text: Int)?
    while position < text.count {
      if wanted < pattern.count, pattern[wanted] == "*" {
        star = (wanted, position)
        wanted += 1
      } else if wanted < pattern.count,
        pattern[wanted] == "?" || pattern[wanted] == text[position]
      {
        wanted += 1
        position += 1
      } else if let last = star {
        star = (last.pattern, last.text + 1)
        wanted = last.pattern + 1
        position = last.text + 1
      } else {
        return false
      }
    }
    return pattern[wanted...].allSatisfy { $0 == "*" }
  }

  /// As ``matches(_:_:caseSensitive:)``, for the name of a function, which may also be given
  /// without the mark that it has in common code.
  public static func matches(
    function name: String, _ pattern: String, caseSensitive: Bool = false
  ) -> Bool {
    if matches(name, pattern, caseSensitive: caseSensitive) { return true }
    let plain = FunctionName.withoutMergedMark(name)
    return plain != name && matches(plain, pattern, caseSensitive: caseSensitive)
  }

  /// As ``matches(_:_:)``, but a pattern without `*` and `?` may stand anywhere in the text.
  public static func contains(_ text: String, _ pattern: String) -> Bool {
    if pattern.contains("*") || pattern.contains("?") { return matches(function: text, pattern) }
    return text.lowercased().contains(pattern.lowercased())
  }
}
