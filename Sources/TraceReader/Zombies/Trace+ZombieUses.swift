extension Trace {
  /// How many groups of uses are kept at most.
  private static let useLimit = 10_000

  /// Adds what shows beside the events of blocks to the errors of a replay: wrong retains and
  /// releases, and uses of freed blocks that were kept back.
  ///
  /// - Complexity: Where there are any, all events are read once or twice more.
  public func addNoticedErrors(to result: inout ReplayResult) {
    addOverreleases(to: &result)
    addZombieUses(to: &result)
  }

  private func addZombieUses(to result: inout ReplayResult) {
    guard !zombieUses.isEmpty else { return }
    var pass = ZombiePass(zombieUses)
    var merger = EventMerger(file: file, chunks: eventChunks)
    merger.run(&pass)
    pass.finish()
    var log = ErrorLog(limit: Self.useLimit)
    for (use, life) in zip(zombieUses, pass.lives) { log.add(MemoryError(use, life)) }
    result.errorCounts.merge(log.counts) { $0 &+ $1 }
    result.errors = (result.errors + log.errors).sorted { $0.offending.time < $1.offending.time }
  }
}

extension MemoryError {
  fileprivate init(_ use: ZombieUse, _ life: ZombiePass.Life?) {
    var stack = StackID.none
    let kind: Kind
    switch use.evidence {
    case .written(let offset, let length, let found):
      kind = .writeAfterFree(offset: offset, length: length, found: found)
    case .followed(let signal, let interrupted):
      (kind, stack) = (.useAfterFree(signal: signal), interrupted)
    }
    self.init(
      kind: kind, address: use.block, block: life?.block, firstFree: life?.end,
      offending: EventSite(
        operation: .useOfFreed, stack: stack, thread: use.thread, time: use.time))
  }
}
