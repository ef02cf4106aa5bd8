extension Trace {
  /// How many groups of errors are kept at most.
  private static let noticedLimit = 10_000

  /// Adds what shows beside the events of blocks to the errors of a replay: wrong retains and
  /// releases, uses of freed blocks that were kept back, writes to redzones, and what guards have
  /// stopped, or the process has ended in.
  ///
  /// - Complexity: Where there are any, all events are read once or twice more.
  public func addNoticedErrors(to result: inout ReplayResult) {
    addOverreleases(to: &result)
    let overruns = unexplainedOverruns
    let accesses = guardedAccesses + [crashedAccess].compactMap { $0 }
    let questions =
      zombieUses.map(LastBlockPass.Question.init) + overruns.map(LastBlockPass.Question.init)
      + accesses.map(LastBlockPass.Question.init)
    guard !questions.isEmpty else { return }
    var pass = LastBlockPass(questions)
    var merger = EventMerger(file: file, chunks: eventChunks)
    merger.run(&pass)
    pass.finish()
    let redzone = notes.first { $0.kind == .redzones }?.value ?? .max
    var log = ErrorLog(limit: Self.noticedLimit)
    var lives = pass.lives[...]
    for (use, life) in zip(zombieUses, lives) { log.add(named(MemoryError(use, life))) }
    lives = lives.dropFirst(zombieUses.count)
    for (overrun, life) in zip(overruns, lives) {
      log.add(named(MemoryError(overrun, life, redzone: redzone)))
    }
    lives = lives.dropFirst(overruns.count)
    for (access, life) in zip(accesses, lives) { log.add(MemoryError(access, life)) }
    result.errorCounts.merge(log.counts) { $0 &+ $1 }
    result.errors = (result.errors + log.errors).sorted { $0.offending.time < $1.offending.time }
  }
}

extension Trace {
  /// The writes past the ends of blocks, and in front of them, that are no part of one that a guard has stopped.
  ///
  /// Who writes on and on from the end of a block changes the bytes in front of its guard first; who does
  /// from its start downwards, those behind the guard of the one before.
  public var unexplainedOverruns: [BlockOverrun] {
    overruns.filter { overrun in !guardedAccesses.contains { $0.goesOn(from: overrun) } }
  }

  /// What was found at a mark comes right before it, by the same thread.
  public func mark(after time: EventTime, of thread: ThreadIndex) -> Mark? {
    marks.first { $0.thread == thread && $0.time > time }
  }

  private func named(_ error: MemoryError) -> MemoryError {
    var result = error
    if error.kind.isFoundAtMark {
      result.mark = mark(after: error.offending.time, of: error.offending.thread)?.name
    }
    return result
  }
}

extension GuardedAccess {
  /// Whether an access is to the byte behind those that were written past the end of the same block.
  fileprivate func goesOn(from overrun: BlockOverrun) -> Bool {
    guard !isFreed, block == overrun.block, size == overrun.size, time <= overrun.time,
      access.kind == .write || access.kind == .unknown
    else { return false }
    return overrun.isInFront
      ? overrun.offset.magnitude == overrun.length && access.offset == overrun.offset &- 1
      : overrun.offset.magnitude == size
        && UInt64(exactly: access.offset) == size &+ overrun.length
  }
}

extension MemoryError.Kind {
  fileprivate var isFoundAtMark: Bool {
    switch self {
    case .writeAfterFree(_, _, let found): found == .mark
    case .heapOverflow(_, _, _, let found), .heapUnderflow(_, _, let found): found == .mark
    default: false
    }
  }
}

extension LastBlockPass.Question {
  fileprivate init(_ use: ZombieUse) {
    self.init(address: use.block.rawValue, time: use.time.rawValue, state: .freed)
  }

  /// The block is freed in the trace before it is looked at.
  fileprivate init(_ overrun: BlockOverrun) {
    self.init(
      address: overrun.block.rawValue, time: overrun.time.rawValue,
      state: overrun.found == .free ? .freedOrLive(size: overrun.size) : .live(size: overrun.size))
  }

  fileprivate init(_ access: GuardedAccess) {
    self.init(
      address: access.block.rawValue, time: access.time.rawValue,
      state: access.isFreed ? .freed : .live(size: access.size))
  }
}

extension MemoryError {
  fileprivate init(_ use: ZombieUse, _ life: LastBlockPass.Life?) {
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

  /// Up to `redzone` bytes behind the block were looked at.
  fileprivate init(_ overrun: BlockOverrun, _ life: LastBlockPass.Life?, redzone: UInt64) {
    let distance = overrun.offset.magnitude
    let kind: Kind =
      overrun.isInFront
      ? .heapUnderflow(distance: distance, length: overrun.length, found: overrun.found)
      : .heapOverflow(
        offset: distance, length: overrun.length,
        isAtLeast: distance &+ overrun.length &- overrun.size >= redzone, found: overrun.found)
    self.init(
      kind: kind,
      address: overrun.block, block: life?.block, firstFree: life?.end,
      offending: EventSite(
        operation: overrun.operation, stack: .none, thread: overrun.thread, time: overrun.time))
  }

  fileprivate init(_ access: GuardedAccess, _ life: LastBlockPass.Life?) {
    self.init(
      kind: access.isFreed ? .accessAfterFree(access.access) : .outOfBounds(access.access),
      address: access.block, block: life?.block, firstFree: life?.end,
      offending: EventSite(
        operation: access.isFreed ? .useOfFreed : .outOfBounds, stack: access.stack,
        thread: access.thread, time: access.time))
  }
}
