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
    var blocks = LastBlockPass(findings.map(LastBlockPass.Question.init))
    run(&blocks)
    blocks.finish()
    var log = ErrorLog(limit: Self.overreleaseLimit)
    for (finding, life) in zip(findings, blocks.lives) { log.add(Self.error(finding, life)) }
    result.errorCounts.merge(log.counts) { $0 &+ $1 }
    result.errors = (result.errors + withRefcounts(log.errors)).sorted {
      $0.offending.time < $1.offending.time
    }
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

  private static func error(
    _ finding: OverreleasePass.Finding, _ life: LastBlockPass.Life?
  ) -> MemoryError {
    let event = finding.event
    // That of an object which had no reference count events while it lived is not known yet.
    let free = finding.free ?? (event.isOfNoObject ? life?.end : nil)
    return MemoryError(
      kind: .overRelease, address: event.object, block: life?.block, firstFree: free,
      offending: MemoryError.EventSite(
        operation: Operation(event.call), stack: event.stack, thread: event.thread,
        time: event.time))
  }

  /// Errors with the events of their objects, each from the allocation up to the one that is wrong.
  ///
  /// Of thousands that are alike one is left by now: an object may have as many events.
  private func withRefcounts(_ errors: [MemoryError]) -> [MemoryError] {
    let events = refcounts(of: Set(errors.map(\.address)))
    return errors.map { error in
      guard let all = events[error.address] else { return error }
      let begin = error.block?.allocation.time ?? .distantPast
      let first = all.partitioningIndex { $0.time >= begin }
      let known = all[first...]
      let end = known.partitioningIndex { $0.time > error.offending.time }
      var error = error
      error.refcounts = Array(known[..<end].suffix(Self.keptEvents))
      return error
    }
  }
}

extension LastBlockPass.Question {
  /// The block that was the object: the next one there is often allocated as soon as it is freed.
  fileprivate init(_ finding: OverreleasePass.Finding) {
    self.init(
      address: finding.event.object.rawValue,
      time: (finding.free?.time ?? finding.event.time).rawValue,
      state: finding.free.map { .ended(by: $0) } ?? .last)
  }
}
