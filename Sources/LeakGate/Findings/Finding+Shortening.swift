import Reports

/// Names in what people read: of nested templates both ends say what is meant, and all of it would
/// fill a page.
extension Finding {
  /// Columns of a name.
  static let nameWidth = 120
  /// Columns of a line of a tree, with the member that leads there and the address.
  static let treeWidth = 160

  /// Takes the middles out of names that are too long for a line.
  mutating func shortenNames() {
    what = what.shortenedInTheMiddle(to: Self.nameWidth)
    tree = tree.map { $0.shortenedInTheMiddle(to: Self.treeWidth) }
    for index in frames.indices { frames[index].shortenName() }
    for index in related.indices {
      for frame in related[index].frames.indices { related[index].frames[frame].shortenName() }
    }
  }
}

extension ReportFrame {
  fileprivate mutating func shortenName() {
    name = name.shortenedInTheMiddle(to: Finding.nameWidth)
  }
}
