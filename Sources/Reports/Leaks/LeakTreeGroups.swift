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
    var drafts: [Key: Draft] = [:]
    for root in leaks.roots where isShown[root] {
      let block = leaks.block(of: root)
      let key = Key(
        role: leaks.role(of: root) == .rootCycle ? .rootCycle : .rootLeak,
        name: labels.name(of: block),
        stack: labels.names.likeness(of: labels.heap.blocks.site(of: block).stack))
      // In place: there may be millions of roots in one group.
      drafts[key, default: Draft(role: key.role, name: key.name, stack: key.stack)]
        .add(root, of: leaks, keepsTimes ? labels.heap.blocks.time(of: block) : nil)
    }
    groups = drafts.values.sorted {
      ($1.bytes, $1.count, $0.stack, $0.role.rawValue, $0.name ?? "")
        < ($0.bytes, $0.count, $1.stack, $1.role.rawValue, $1.name ?? "")
    }
  }
}
