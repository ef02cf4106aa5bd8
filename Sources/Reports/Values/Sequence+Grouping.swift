extension Sequence {
  /// Puts elements with the same key together.
  ///
  /// - Parameter key: What the elements of a group have in common.
  /// - Returns: The groups in the order of their first elements, each in the order of the sequence.
  package func grouped<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
    var groups: [[Element]] = []
    var positions: [Key: Int] = [:]
    for element in self {
      let key = key(element)
      if let position = positions[key] {
        groups[position].append(element)
      } else {
        positions[key] = groups.count
        groups.append([element])
      }
    }
    return groups
  }
}
