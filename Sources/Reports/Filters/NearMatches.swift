/// Names that a mistyped one may stand for.
public enum NearMatches {
  /// The names nearest to `name`, best first, at most `limit`.
  ///
  /// Near are names that hold the text, whatever its case, then those within a third of its
  /// length in edits.
  public static func of(_ name: String, in names: [String], limit: Int = 5) -> [String] {
    let wanted = name.lowercased()
    let bound = max(1, wanted.count / 3)
    let ranked: [(Int, Int, String)] = names.enumerated().compactMap { index, candidate in
      let other = candidate.lowercased()
      if !wanted.isEmpty && other.contains(wanted) { return (0, index, candidate) }
      guard abs(other.count - wanted.count) <= bound else { return nil }
      let distance = editDistance(Array(wanted), Array(other))
      return distance <= bound ? (distance, index, candidate) : nil
    }
    let sorted = ranked.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    return sorted.prefix(limit).map(\.2)
  }

  /// One line for a name that is not there: `no category "Maloc-16" in this trace; near: Malloc-16`.
  ///
  /// Where none is near, it says which there are if these are few.
  ///
  /// - Parameters:
  ///   - kind: What the name is of.
  ///   - name: What was asked for.
  ///   - names: All that there are.
  ///   - isPart: Whether these are the names of a part of the trace only.
  /// - Returns: The line.
  static func message(
    _ kind: String, _ name: String, in names: [String], ofPart isPart: Bool = false
  ) -> String {
    var seen: Set<String> = []
    let distinct = names.filter { seen.insert($0).inserted }
    let near = of(name, in: distinct)
    let place = isPart ? "this part of the trace" : "this trace"
    let missing = "no \(kind) \"\(name.printable)\" in \(place)"
    if distinct.isEmpty { return missing + ", which has none" }
    if !near.isEmpty { return missing + "; near: " + list(near) }
    guard distinct.count <= fewNames else { return missing }
    return missing + "; there \(distinct.count == 1 ? "is" : "are") " + list(distinct)
  }

  private static let fewNames = 5

  private static func list(_ names: [String]) -> String {
    names.map(\.printable).joined(separator: ", ")
  }

  private static func editDistance(_ left: [Character], _ right: [Character]) -> Int {
    var previous = Array(0...right.count)
    for (row, character) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        let replaced = previous[column] + (character == other ? 0 : 1)
        current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[right.count]
  }
}
