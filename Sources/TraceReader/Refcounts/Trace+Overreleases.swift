extension Trace {
  /// How many wrong retains and releases are looked into at most.
  private static let overreleaseLimit = 10_000
  /// How many events of one object an error keeps: the last ones before it.
  private static let keptEvents = 10_000

  /// Adds the misuses that the reference count events show to the errors of a replay: releases of
  /// objects that have no strong reference any more, retains and releases of freed ones.
  ///
  /// Nothing is added where events of blocks may be missing: an object may then be a later one at
  /// the address of one that was freed.
  /// - Complexity: All events are read twice, those of reference counts up to twice.
  public func addOverreleases(to result: inout ReplayResult) {
    guard hasRefcounts, !result.coverage.mayMissAllocations else { return }
    let findings = overreleases()
    guard !findings.isEmpty else { return }
    var finder = OverreleasedBlocks(findings)
    run(&finder)
    finder.finish()
    let events = refcounts(of: Set(findings.map(\.event.object)))
    var log = ErrorLog(limit: Self.overreleaseLimit)
    for index in findings.indices {
      var finding = findings[index]
      finding.free = finder.frees[index]
      log.add(
        error(finding, block: finder.blocks[index], events: events[finding.event.object] ?? []))
    }
    result.errorCounts.merge(log.counts) { $0 &+ $1 }
    result.errors = (result.errors + log.errors).sorted { $0.offending.time < $1.offending.time }
  }

  private func overreleases() -> [OverreleasePass.Finding] {
    var pass = OverreleasePass(
      RefcountMerger(file: file, chunks: refcountChunks), limit: Self.overreleaseLimit)
    run(&pass)
    pass.finish()
    return pass.findings
  }

  private func run<Sink: EventSink & ~Copyable>(_ sink: inout Sink) {
    var merger = EventMerger(file: file, chunks: eventChunks)
    merger.run(&sink)
  }

  private func error(
    _ finding: OverreleasePass.Finding, block: MemoryError.BlockSummary?, events: [RefcountEvent]
  ) -> MemoryError {
    let event = finding.event
    var error = MemoryError(
      kind: .overRelease, address: event.object, block: block, firstFree: finding.free,
      offending: MemoryError.EventSite(
        operation: Operation(event.call), stack: event.stack, thread: event.thread,
        time: event.time))
    let begin = block?.allocation.time ?? .distantPast
    error.refcounts = events.filter { $0.time >= begin && $0.time <= event.time }
      .suffix(Self.keptEvents)
    return error
  }
}
