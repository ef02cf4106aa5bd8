import TraceReader

/// Calls that retained a leaked object, and that no release goes with.
public struct LeakRetainer: Sendable, Hashable, Encodable {
  /// How many references.
  public var count: UInt64
  /// When the first of them was made, nanoseconds since the recording began.
  public var timeNanoseconds: UInt64
  /// The ID of the stack.
  public var stack: UInt32
  /// The responsible frame; nil without a stack.
  public var responsible: ReportFrame?

  /// `retained by adopt(_:_:)  cycle.swift:15, never released`.
  var text: String {
    let place = responsible.map { " by \($0.title)" } ?? ""
    let times = count == 1 ? "" : " \(count.grouped) times"
    return "retained\(place)\(times), never released"
  }
}

extension LeaksReport {
  /// Adds to the trees which retains were never released, where the trace has them.
  public mutating func addRetainers(_ trace: Trace, source: ReportSource) {
    guard trace.hasRefcounts else { return }
    let lines = treeGroups.flatMap { $0.trees.joined() }.filter { $0.counts != nil }
    let events = trace.refcounts(of: Set(lines.map { Address($0.address) }))
    for group in treeGroups.indices {
      for tree in treeGroups[group].trees.indices {
        for line in treeGroups[group].trees[tree].indices {
          let content = treeGroups[group].trees[tree][line]
          guard content.counts != nil, let all = events[Address(content.address)] else { continue }
          treeGroups[group].trees[tree][line].retainers = Self.retainers(of: content, all, source)
        }
      }
    }
  }

  private static func retainers(
    of line: LeakTreeLine, _ events: [RefcountEvent], _ source: ReportSource
  ) -> [LeakRetainer] {
    let life = RefcountLife(
      allocation: StackID(line.stack), events: events.filter { $0.time >= line.time },
      names: source.names)
    var result: [LeakRetainer] = []
    for step in life.ledger.unbalanced {
      guard let event = life.steps[step].event, event.change > 0 else { continue }
      let count = life.ledger.unpaired[step].magnitude
      if let known = result.firstIndex(where: { $0.stack == event.stack.rawValue }) {
        result[known].count &+= count
      } else {
        result.append(
          LeakRetainer(
            count: count, timeNanoseconds: source.clock.nanoseconds(event.time),
            stack: event.stack.rawValue, responsible: source.names.responsible(of: event.stack)))
      }
    }
    return result
  }
}
