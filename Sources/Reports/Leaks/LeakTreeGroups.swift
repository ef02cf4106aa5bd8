import LeakAnalysis
import TraceReader

/// Trees of leaks put together by what their roots are and the stack that allocated these.
struct LeakTreeGroups {
  /// A group before its trees are written out.
  struct Draft {
    var role: LeakTreeLine.Role
    var name: String?
    var stack: StackID
    var roots: [Int] = []
    var rootTimes: [EventTime] = []
    var instances: UInt64 = 0
    var count: UInt64 = 0
    var bytes: UInt64 = 0

    mutating func add(_ root: Int, of leaks: LeakForest, _ time: EventTime?) {
      if roots.count < LeaksReport.treesPerGroup { roots.append(root) }
      if let time { rootTimes.append(time) }
      instances &+= 1
      count &+= UInt64(leaks.subtreeCount(of: root))
      bytes &+= leaks.subtreeBytes(of: root)
    }

    /// Whether this one comes first: the one with more bytes, then with more blocks.
    func isShown(before other: Draft) -> Bool {
      if bytes != other.bytes { return bytes > other.bytes }
      if count != other.count { return count > other.count }
      if stack != other.stack { return stack < other.stack }
      return (role.rawValue, name ?? "") < (other.role.rawValue, other.name ?? "")
    }

    /// The group with its first few trees.
    func group(_ trees: LeakTreeBuilder, _ source: ReportSource) -> LeaksReport.TreeGroup {
      LeaksReport.TreeGroup(
        role: role, name: name, instances: instances, count: count, bytes: bytes,
        stack: stack.rawValue, frames: source.names.frames(of: stack),
        trees: roots.map(trees.lines(of:)), rootTimes: rootTimes)
    }
  }

  private struct Key: Hashable {
    var role: LeakTreeLine.Role
    var name: String?
    var stack: StackID
  }

  /// The groups, those with the most bytes first.
  private(set) var groups: [Draft] = []

  /// - Parameters:
  ///   - leaks: The trees.
  ///   - labels: Names of blocks.
  ///   - isShown: Which of the roots.
  ///   - keepsTimes: Whether it matters when each root was allocated.
  init(_ leaks: LeakForest, labels: BlockLabels, _ isShown: Bits, keepsTimes: Bool) {
    var drafts: [Draft] = []
    var positions: [Key: Int] = [:]
    for root in leaks.roots where isShown[root] {
      let block = leaks.block(of: root)
      let key = Key(
        role: leaks.role(of: root) == .rootCycle ? .rootCycle : .rootLeak,
        name: labels.name(of: block),
        stack: labels.names.likeness(of: labels.heap.blocks.site(of: block).stack))
      let position = positions[key] ?? drafts.count
      if position == drafts.count {
        positions[key] = position
        drafts.append(Draft(role: key.role, name: key.name, stack: key.stack))
      }
      // In place: there may be millions of roots in one group.
      drafts[position]
        .add(root, of: leaks, keepsTimes ? labels.heap.blocks.time(of: block) : nil)
    }
    // There may be millions of groups as well: a sort that moves them copies what they hold at each step.
    groups = drafts.indices.sorted { drafts[$0].isShown(before: drafts[$1]) }.map { drafts[$0] }
  }
}
