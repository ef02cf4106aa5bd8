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
    var instances: UInt64 = 0
    var count: UInt64 = 0
    var bytes: UInt64 = 0
    var signature: String

    /// The group with its first few trees.
    func group(_ trees: LeakTreeBuilder, _ source: ReportSource) -> LeaksReport.TreeGroup {
      LeaksReport.TreeGroup(
        role: role, name: name, instances: instances, count: count, bytes: bytes,
        stack: stack.rawValue, frames: source.names.frames(of: stack),
        trees: roots.map(trees.lines(of:)), signature: signature)
    }
  }

  private struct Key: Hashable {
    var role: LeakTreeLine.Role
    var name: String?
    var stack: StackID
  }

  /// The groups, those with the most bytes first.
  private(set) var groups: [Draft] = []

  init(_ leaks: LeakForest, labels: BlockLabels, source: ReportSource, roots: [Int]) {
    var drafts: [Key: Draft] = [:]
    for root in roots {
      let block = leaks.block(of: root)
      let key = Key(
        role: leaks.role(of: root) == .rootCycle ? .rootCycle : .rootLeak,
        name: labels.name(of: block), stack: labels.heap.blocks.site(of: block).stack)
      var draft =
        drafts[key]
        ?? Draft(
          role: key.role, name: key.name, stack: key.stack,
          signature: [key.role.rawValue, key.name ?? ""].joined(separator: "\n") + "\n"
            + LeakSignature.text(source.names.frames(of: key.stack)))
      if draft.roots.count < LeaksReport.treesPerGroup { draft.roots.append(root) }
      draft.instances &+= 1
      draft.count &+= UInt64(leaks.subtreeCount(of: root))
      draft.bytes &+= leaks.subtreeBytes(of: root)
      drafts[key] = draft
    }
    groups = drafts.values.sorted {
      ($1.bytes, $1.count, $0.stack, $0.signature) < ($0.bytes, $0.count, $1.stack, $1.signature)
    }
  }
}

/// The leaks of another trace, which are known already.
public struct LeakBaseline: Sendable {
  /// The trace, as the user named it.
  public var name: String
  private var counts: [String: UInt64] = [:]
  private var groups: [String: UInt64] = [:]

  /// Takes the leaks of a report that was made without a limit.
  public init(_ report: LeaksReport, name: String) {
    self.name = name
    for row in report.rows { counts[row.signature, default: 0] &+= row.count }
    for group in report.treeGroups { groups[group.signature, default: 0] &+= group.instances }
  }

  /// The rows with more blocks than the other trace has, and how many more.
  func new(_ rows: [LeakRow]) -> [LeakRow] {
    var left = counts
    return rows.compactMap { row in
      let known = min(left[row.signature] ?? 0, row.count)
      left[row.signature, default: known] &-= known
      guard row.count > known else { return nil }
      var row = row
      row.newCount = row.count &- known
      return row
    }
  }

  /// The groups with more trees than the other trace has.
  func new(_ drafts: [LeakTreeGroups.Draft]) -> [LeakTreeGroups.Draft] {
    drafts.filter { $0.instances > groups[$0.signature] ?? 0 }
  }
}
