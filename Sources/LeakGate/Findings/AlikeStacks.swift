import Reports

/// The different stacks of findings that have one fingerprint.
///
/// Whoever mends one of them wants to know that there are others.
struct AlikeStacks {
  /// So many others are kept; the rest is counted.
  private static let limit = 3
  private static let title = "also from this stack"

  /// Hashes of the stacks of each finding of which there is more than one, by its position.
  private var known: [Int: Set<Int>] = [:]

  /// Notes in a finding that there is another stack, unless it reads like one that is known.
  ///
  /// - Parameters:
  ///   - frames: The other stack, leaf first.
  ///   - finding: What it has the fingerprint of.
  ///   - position: The finding's own, the same each time.
  mutating func add(_ frames: [ReportFrame], to finding: inout Finding, at position: Int) {
    var stacks = known.removeValue(forKey: position) ?? [Self.hash(finding.frames)]
    let isNew = stacks.insert(Self.hash(frames)).inserted
    known[position] = stacks
    guard isNew else { return }
    finding.stackCount = stacks.count
    guard stacks.count <= Self.limit + 1 else { return }
    finding.related.append(Finding.RelatedStack(title: Self.title, frames: frames))
  }

  /// What is read of a stack: where in its line the code lies is not.
  private static func hash(_ frames: [ReportFrame]) -> Int {
    var hasher = Hasher()
    for frame in frames {
      hasher.combine(frame.name)
      hasher.combine(frame.line)
    }
    return hasher.finalize()
  }
}
