import TraceReader

extension HistoryReport {
  /// Follows an address through a trace.
  ///
  /// - Parameters:
  ///   - trace: The opened trace.
  ///   - address: Any address inside a block.
  ///   - source: Who was traced, and how to name things.
  ///   - top: Only so many of the last events; nil for all.
  ///   - showsStacks: Whether the text shows the stack of each event.
  ///   - progress: Called with the bytes read and all of them.
  /// - Throws: `TraceError` when reading fails.
  public init(
    _ trace: Trace, address: Address, source: ReportSource, top: Int? = nil,
    showsStacks: Bool = false, progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws {
    var options = ReplayOptions()
    options.progress = progress
    let history = try trace.history(of: address, options: options)
    let ends = history.filter { $0.event.operation == .reallocEnd && $0.event.stack == .none }
    var objects = Set(history.map(\.block))
    if objects.isEmpty { objects.insert(address) }
    self.init(
      address: address.rawValue, history,
      reallocStacks: try trace.reallocStacks(ofEnds: Set(ends.map(\.eventIndex))),
      refcounts: trace.refcounts(of: objects), coverage: trace.coverage, source: source, top: top, showsStacks: showsStacks)
  }
}

extension Trace {
  /// The stacks of ended `realloc` calls, by the index of the event.
  ///
  /// The trace holds the stack with the beginning of the call only, and the beginning may be about
  /// a block that has nothing to do with the one that is followed.
  func reallocStacks(ofEnds wanted: Set<UInt64>) throws -> [UInt64: StackID] {
    guard let last = wanted.max() else { return [:] }
    var begun: [ThreadIndex: StackID] = [:]
    var stacks: [UInt64: StackID] = [:]
    try forEachEvent { index, event in
      switch event.operation {
      case .reallocBegin: begun[event.thread] = event.stack
      case .reallocEnd where wanted.contains(index): stacks[index] = begun[event.thread]
      default: break
      }
      return index < last
    }
    return stacks
  }
}
