import Reports

/// Takes the middles out of names that are too long for what people read: of nested templates both ends say
/// what is meant, and all of it would fill a page.
struct NameShortener {
  /// Columns of a name.
  static let nameWidth = 120
  /// Columns of a line of a tree, with the member that leads there and the address.
  static let treeWidth = 160

  /// Findings share the places of their stacks, which are to be shared when they are shortened as well.
  private var shortened: [ReportFrame: ReportFrame] = [:]

  /// Shortens all names of a finding.
  mutating func shorten(_ finding: inout Finding) {
    finding.what = finding.what.shortenedInTheMiddle(to: Self.nameWidth)
    finding.tree = finding.tree.map { $0.shortenedInTheMiddle(to: Self.treeWidth) }
    shorten(&finding.frames)
    finding.responsible = finding.responsible.map { self.shortened($0) }
    for index in finding.related.indices { shorten(&finding.related[index].frames) }
  }

  private mutating func shorten(_ frames: inout [ReportFrame]) {
    // No character takes more columns than bytes. A stack that is written to is copied.
    for index in frames.indices where frames[index].name.utf8.count > Self.nameWidth {
      frames[index] = shortened(frames[index])
    }
  }

  private mutating func shortened(_ frame: ReportFrame) -> ReportFrame {
    if let known = shortened[frame] { return known }
    var short = frame
    short.name = frame.name.shortenedInTheMiddle(to: Self.nameWidth)
    shortened[frame] = short
    return short
  }
}
