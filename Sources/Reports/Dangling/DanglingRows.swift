import LeakAnalysis
import TraceReader

/// Puts dangling pointers together in rows.
struct DanglingRows {
  private struct Key: Hashable {
    var confidence: DanglingPointer.Confidence
    var isFromExit: Bool
    var holder: String
    var offset: UInt64?
    var name: String
    var isStart: Bool
    var allocation: StackID
    var deallocation: StackID
  }

  /// The pointers of a row, as positions.
  private struct Draft {
    var key: Key
    var first: Int
    var count: UInt64 = 0
    var blocks = BlockSum()
    var seen: Set<UInt64> = []
    var examples: [DanglingReport.Example] = []

    /// The surest first, and last what is as it has to be.
    var rank: UInt8 { key.confidence.rawValue + (key.isFromExit ? 3 : 0) }
  }

  /// How many pointers of each confidence, those to blocks that were freed while the process ended aside.
  private(set) var counts: [DanglingPointer.Confidence: UInt64] = [:]
  /// How many of the others are not doubtful.
  private(set) var exitCount: UInt64 = 0
  private let found: DanglingPointers
  private let source: ReportSource
  private let query: DanglingQuery
  private let names: DanglingNames
  private var positions: [Key: Int] = [:]
  private var drafts: [Draft] = []

  init(_ found: DanglingPointers, source: ReportSource, query: DanglingQuery) {
    (self.found, self.source, self.query) = (found, source, query)
    names = DanglingNames(found.heap, source)
    for position in found.pointers.indices { add(position) }
  }

  private mutating func add(_ position: Int) {
    let pointer = found.pointers[position]
    guard names.mayPoint(pointer) else { return }
    let confidence = names.confidence(of: pointer)
    let isDoubtful = confidence == .doubtful
    // There may be very many of these, whose names nobody asks for.
    let isFromExit = isDoubtful ? false : names.isFreedAtExit(pointer.freed.deallocation.stack)
    if isFromExit { exitCount += 1 } else { counts[confidence, default: 0] += 1 }
    guard query.includesDoubtful || !(isDoubtful || isFromExit) else { return }
    let holder = names.holder(of: pointer)
    // Where little is sure, a row says no more than what it is about.
    let hasStacks = confidence == .likely && !isFromExit
    let key = Key(
      confidence: confidence, isFromExit: isFromExit, holder: holder.text,
      offset: holder.offset, name: names.category(of: pointer.freed).name,
      isStart: pointer.isStart,
      allocation: hasStacks ? pointer.freed.allocation.stack : .none,
      deallocation: hasStacks ? pointer.freed.deallocation.stack : .none)
    let draft = positions[key] ?? drafts.count
    if draft == drafts.count {
      positions[key] = draft
      drafts.append(Draft(key: key, first: position))
    }
    add(pointer, to: &drafts[draft])
  }

  private func add(_ pointer: DanglingPointer, to draft: inout Draft) {
    draft.count += 1
    if draft.seen.insert(pointer.freed.address).inserted { draft.blocks.add(pointer.freed.size) }
    guard draft.examples.count < DanglingReport.examplesPerRow else { return }
    draft.examples.append(names.example(of: pointer))
  }

  /// The rows in their order, as far as the query asks for them, and how many there are.
  mutating func finish() -> ([DanglingReport.Row], Int) {
    let sorted = drafts.sorted { left, right in
      (left.rank, right.count, left.first) < (right.rank, left.count, right.first)
    }
    return (sorted.prefix(query.top ?? .max).map(row), sorted.count)
  }

  private func row(_ draft: Draft) -> DanglingReport.Row {
    let pointer = found.pointers[draft.first]
    return DanglingReport.Row(
      confidence: draft.key.confidence, isFromExit: draft.key.isFromExit, holder: draft.key.holder,
      holderKind: names.kind(of: pointer.holder), offset: draft.key.offset,
      holderAllocated: names.allocation(of: pointer.holder), name: draft.key.name,
      type: BlockTypeSummary(names.category(of: pointer.freed)), count: draft.count,
      blocks: draft.blocks, edge: draft.key.isStart ? "start" : "interior",
      allocated: EventSummary(pointer.freed.allocation, source: source),
      freed: EventSummary(pointer.freed.deallocation, source: source), examples: draft.examples)
  }
}
