import TraceReader

extension HistoryReport {
  /// A use of a block at the address that showed beside its events: after its free, where freed
  /// blocks were kept back, or outside of it, where blocks had redzones; both of guarded blocks.
  public struct Use: Sendable, Hashable, Encodable {
    /// `write-after-free`, `use-after-free`, `heap-overflow`, `heap-underflow` or `out-of-bounds`, as in
    /// `memtrace.errors`.
    public var kind: String
    /// Where the block begins.
    public var block: String
    /// What happened, in one sentence.
    public var message: String
    /// When it was noticed; frames are of what a signal interrupted.
    public var event: EventSummary
  }
}

extension HistoryReport.Use {
  init(_ use: ZombieUse, mark: String?, source: ReportSource) {
    var stack = StackID.none
    switch use.evidence {
    case .written(let offset, let length, let found):
      kind = MemoryError.Category.writeAfterFree.identifier
      message = "\(length) B at offset \(offset) had changed, found \(found.text(at: mark))"
    case .followed(let signal, let interrupted):
      kind = MemoryError.Category.useAfterFree.identifier
      message = "what it held was followed, which ended in \(SignalText.name(of: signal))"
      stack = interrupted
    }
    block = HexText.of(use.block.rawValue)
    event = EventSummary(
      operation: .useOfFreed, thread: use.thread, time: use.time, stack: stack, source: source)
  }

  init(_ overrun: BlockOverrun, mark: String?, source: ReportSource) {
    let category: MemoryError.Category = overrun.isInFront ? .heapUnderflow : .heapOverflow
    kind = category.identifier
    message =
      "\(overrun.length) B at offset \(overrun.offset) of \(overrun.size) were written, found "
      + overrun.found.text(after: nil, at: mark)
    block = HexText.of(overrun.block.rawValue)
    event = EventSummary(
      operation: overrun.operation, thread: overrun.thread, time: overrun.time, stack: .none,
      source: source)
  }

  init(_ stopped: GuardedAccess, source: ReportSource) {
    let category =
      stopped.isFreed ? MemoryError.Category.useAfterFree : MemoryError.Category.outOfBounds
    kind = category.identifier
    message =
      "\(stopped.access.kind.noun.lowercased()) at offset \(stopped.access.offset) of "
      + "\(stopped.size), which ended in \(SignalText.name(of: stopped.access.signal))"
    block = HexText.of(stopped.block.rawValue)
    event = EventSummary(
      operation: stopped.isFreed ? .useOfFreed : .outOfBounds, thread: stopped.thread,
      time: stopped.time, stack: stopped.stack, source: source)
  }

  /// Whether the block was freed before.
  var isAfterFree: Bool {
    let others: [MemoryError.Category] = [.heapOverflow, .heapUnderflow, .outOfBounds]
    return !others.contains { $0.identifier == kind }
  }
}
