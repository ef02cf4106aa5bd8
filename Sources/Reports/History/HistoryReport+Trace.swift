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
    var coverage = trace.coverage
    let history = try trace.history(of: address, options: options) { coverage.add($0) }
    let ends = history.filter { $0.event.operation == .reallocEnd && $0.event.stack == .none }
    var objects = Set(history.map(\.block))
    if objects.isEmpty { objects.insert(address) }
    self.init(
      address: address.rawValue, history,
      reallocStacks: try trace.reallocStacks(ofEnds: Set(ends.map(\.eventIndex))),
      refcounts: trace.refcounts(of: objects), coverage: coverage, source: source, top: top,
      showsStacks: showsStacks)
    snapshotCounts = try Self.counts(of: history, in: trace)
    uses = Self.uses(of: objects, in: trace, source)
  }

  private static func uses(
    of objects: Set<Address>, in trace: Trace, _ source: ReportSource
  ) -> [Use] {
    let overruns = trace.unexplainedOverruns.filter { objects.contains($0.block) }.map {
      Use($0, mark: trace.mark(after: $0.time, of: $0.thread)?.name, source: source)
    }
    let zombies = trace.zombieUses.filter { objects.contains($0.block) }.map {
      Use($0, mark: trace.mark(after: $0.time, of: $0.thread)?.name, source: source)
    }
    let stopped = trace.guardedAccesses.filter { objects.contains($0.block) }.map {
      Use($0, source: source)
    }
    return overruns + zombies + stopped
  }

  /// What the last snapshot in the life of the last block says, if that is a Swift object.
  private static func counts(
    of history: [HistoryEntry], in trace: Trace
  ) throws -> SnapshotCounts? {
    guard let begin = history.last(where: { $0.event.kind == .allocation }) else { return nil }
    let end = history.last { $0.block == begin.block && $0.event.kind == .deallocation }
    let freed = end.map(\.event.time).flatMap { $0 >= begin.event.time ? $0 : nil }
    let found = trace.snapshots.last {
      $0.time >= begin.event.time && $0.time < freed ?? .distantFuture
    }
    guard let found, trace.types.hasSwift else { return nil }
    let memory = try trace.loadSnapshot(found.index)
    let object = begin.block.rawValue
    guard let type = trace.types.type(ofWord: memory.word(at: object)), type.kind.isSwift,
      let counts = ObjectCounts(at: object, in: memory)
    else { return nil }
    return SnapshotCounts(
      snapshot: found.index, timeNanoseconds: trace.clock.nanoseconds(found.time), object: object,
      counts: counts)
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
