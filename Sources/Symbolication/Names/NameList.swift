/// Names in a sentence, the first three of many: `malloc, free, realloc and 2 more`.
package enum NameList {
  /// Lists names.
  ///
  /// - Parameter names: In the order in which they are to be told.
  /// - Returns: Nothing where there are none.
  package static func text(_ names: [String]) -> String {
    let rest = names.count - namesShown
    if rest > 0 { return names.prefix(namesShown).joined(separator: ", ") + " and \(rest) more" }
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and \(last)"
  }

  private static let namesShown = 3
}
