extension Trace {
  /// Goes through all events once and finds out everything that reports need.
  ///
  /// A second, quicker pass is made when deallocations came for addresses that were not live.
  /// - Parameter options: What to count and what to keep.
  /// - Returns: Figures of the whole trace, or of the part that `options` ask for.
  /// - Throws: Nothing at present: parts that cannot be read are in the coverage of the result.
  /// - Complexity: O(*events*) time; memory for live blocks (at most 64 bytes each), sites and
  ///   stacks.
  public func replay(_ options: ReplayOptions = ReplayOptions()) throws(TraceError) -> ReplayResult
  {
    let limits = ReplayLimits(options)
    let start = max(eventChunks.first?.baseTime ?? 0, limits.firstTime)
    // Damaged stack chunks can claim any IDs; those beyond are looked up the slow way.
    let stackCount = min(Int(stacks.endID.rawValue), stacks.count * 4 + 4)
    var heap = HeapReplay(
      limits: limits, stackCount: stackCount,
      timeline: TimelineBuilder(start: start, capacity: options.timelineBuckets),
      rare: RareEvents(
        errorLimit: options.errorLimit, notesUnknown: limits.startTime == 0),
      sampling: Sampling(header: header), isOneFamily: header.flags.contains(.oneFamily),
      hasAnnounced: header.flags.contains(.announced))
    let chunks = eventChunks(from: limits.startTime, to: limits.lastTime)
    heap.passOver(eventChunks.lazy.filter { $0.ends(before: limits.startTime) })
    var merger = EventMerger(file: file, chunks: chunks, progress: options.progress)
    merger.run(&heap)
    heap.finish()

    var result = ReplayResult(
      coverage: coverage, heap: &heap, threads: merger.slots.threads, clock: clock,
      keepsLiveBlocks: options.keepsLiveBlocks)
    result.coverage.add(merger)
    if limits.startTime == 0, limits.lastTime == .max, limits.eventCount == .max {
      noteMissing(after: heap.eventCount, in: &result.coverage)
    }
    result.coverage.stacksLost = lostStacks(of: result.sites)
    judgeSuspects(of: heap, limits: limits, threads: merger.slots.threads, in: &result)
    return result
  }

  /// How many allocations have stacks that the trace lacks: a stack is written before its events.
  private func lostStacks(of sites: [Site]) -> UInt64 {
    sites.reduce(0) { lost, site in
      let isThere = site.stack < .first || stacks.position(of: site.stack) != nil
      return lost &+ (isThere ? 0 : site.tally.totalCount)
    }
  }

  /// Visits all events in the merged order of the threads.
  ///
  /// - Parameters:
  ///   - start: Events before this time need not be visited; those that are do not count.
  ///   - body: Gets the number of events before it and the event; false stops the visit.
  /// - Returns: The parts that cannot be read, and were left out.
  /// - Throws: Nothing at present.
  @discardableResult
  public func forEachEvent(
    from start: EventTime = .distantPast, _ body: (_ index: UInt64, _ event: Event) -> Bool
  ) throws(TraceError) -> [Damage] {
    withoutActuallyEscaping(body) { body in
      var visitor = EventVisitor(start: start.rawValue, body: body)
      var merger = EventMerger(file: file, chunks: eventChunks(from: start.rawValue))
      merger.run(&visitor)
      return merger.damage
    }
  }

  /// Tells double frees, frees of interior addresses and strangers apart.
  private func judgeSuspects(
    of heap: borrowing HeapReplay, limits: ReplayLimits, threads: [UInt32],
    in result: inout ReplayResult
  ) {
    var log = heap.rare.errors
    let lost = result.coverage.lostTimes
    if let lost {
      result.coverage.doubtfulErrors = log.removeErrors { $0.isDoubtful(after: lost) }
    }
    // Neither the allocations nor the frees are there that would tell what an address was.
    let isInherited = header.isSelective && header.flags.contains(.forked)
    let suspects = header.isSelective ? [] : heap.rare.suspects
    if !suspects.isEmpty {
      var pass = SuspectPass(
        suspects: suspects, hasAnnounced: header.flags.contains(.announced))
      var merger = EventMerger(file: file, chunks: eventChunks(to: limits.lastTime))
      merger.run(&pass)
      let first = EventTime(limits.firstTime)
      let isPatchy = Self.missesAllocations(result.coverage, pass)
      for error in pass.errors where error.offending.time >= first {
        if isPatchy || lost.map(error.isDoubtful(after:)) == true {
          result.coverage.doubtfulErrors &+= 1
        } else {
          log.add(error)
        }
      }
      result.coverage.unknownFrees &+= UInt64(pass.unjudgedCount)
      judgeStrangers(
        pass.strangers.filter { $0.suspect.time >= first.rawValue }, &log, &result.coverage)
    }
    let rest = heap.rare.suspectCount &- UInt64(suspects.count)
    if isInherited {
      result.coverage.inheritedFrees &+= rest
    } else {
      result.coverage.unknownFrees &+= rest
    }
    result.errorCounts = log.counts
    result.errors = log.errors.map { $0.naming(threads) }.sorted {
      $0.offending.time < $1.offending.time
    }
  }

  /// Whether blocks are allocated past the recorder and freed by way of it, so that an address that was
  /// freed may be another block's since then.
  ///
  /// An allocator that is linked into the program may be compiled into its `operator new`. Where the program's
  /// operators only call what is recorded, each free is of a block that the trace has.
  private static func missesAllocations(_ coverage: Coverage, _ pass: SuspectPass) -> Bool {
    if coverage.missesBlocksThatAreFreed { return true }
    guard !coverage.bypassed.isEmpty || !coverage.bundled.isEmpty else { return false }
    return pass.strangers.count > pass.errors.count
  }

  /// A free of an address that was never allocated is an error only where the trace would have
  /// the allocation if there had been one, or where no allocator can have made it.
  private func judgeStrangers(
    _ all: [SuspectPass.Stranger], _ log: inout ErrorLog, _ coverage: inout Coverage
  ) {
    var strangers = all
    let variables = strangers.partition {
      executable?.contains($0.suspect.blockAddress) == true
    }
    for stranger in strangers[variables...] { log.add(Self.freeOfUnknown(stranger)) }
    strangers.removeSubrange(variables...)
    let isWhole = !header.flags.contains(.late) && !coverage.mayMissAllocations
    if header.flags.contains(.forked) {
      judgeInherited(strangers, isWhole: isWhole, &log, &coverage)
    } else if isWhole {
      for stranger in strangers { log.add(Self.freeOfUnknown(stranger)) }
    } else {
      coverage.unknownFrees &+= UInt64(strangers.count)
    }
  }

  /// The blocks that a child inherits are not known; but those that it frees twice, with no
  /// allocation of the address between, are no blocks the second time.
  private func judgeInherited(
    _ strangers: [SuspectPass.Stranger], isWhole: Bool, _ log: inout ErrorLog,
    _ coverage: inout Coverage
  ) {
    for stranger in strangers {
      if isWhole, let previous = stranger.previous {
        log.add(Self.secondEnd(of: stranger.suspect, after: previous))
      } else {
        coverage.inheritedFrees &+= 1
      }
    }
  }

  /// The image of the program itself, whose addresses nothing else ever takes.
  private var executable: Image? {
    images.images.first { $0.path == process.executablePath && $0.unloadTime == nil }
  }

  private static func secondEnd(
    of suspect: RareEvents.Suspect, after previous: MemoryError.EventSite
  ) -> MemoryError {
    MemoryError(
      kind: SuspectPass.kindOfSecondEnd(suspect.operation), address: suspect.blockAddress,
      block: nil, firstFree: previous, offending: SuspectPass.site(suspect))
  }

  private static func freeOfUnknown(_ stranger: SuspectPass.Stranger) -> MemoryError {
    var error = MemoryError(
      kind: .freeOfUnknown, address: stranger.suspect.blockAddress, block: nil, firstFree: nil,
      offending: SuspectPass.site(stranger.suspect))
    error.neighbour = stranger.neighbour
    return error
  }
}

extension MemoryError {
  /// Whether events are missing since the last one that tells what was at the address: the block
  /// may have ended, and another one begun.
  fileprivate func isDoubtful(after lost: LostTimes) -> Bool {
    // That an address was freed twice does not depend on how far the block went that began there.
    let end = kind.category == .freeOfInterior ? nil : firstFree?.time
    guard let known = end ?? block?.allocation.time else { return false }
    return lost.reach(from: known, to: offending.time)
  }
}

/// Turns raw events into ``Event`` values for a closure.
private struct EventVisitor: EventSink {
  let start: UInt64
  let body: (UInt64, Event) -> Bool
  private var index: UInt64 = 0

  init(start: UInt64, body: @escaping (UInt64, Event) -> Bool) {
    self.start = start
    self.body = body
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      let event = run.events + position
      guard body(index, Event(run.batch, event)) else { return false }
      if event.pointee.time >= start { index &+= 1 }
    }
    return true
  }
}

extension Event {
  /// Keeps the fields that the operation has and empties the others.
  init(_ batch: EventBatch, _ pointer: UnsafePointer<RawEvent>) {
    let raw = pointer.pointee
    operation = Operation(rawValue: raw.operation)
    time = EventTime(raw.time)
    thread = ThreadIndex(batch.thread)
    address = Address(0)
    size = 0
    alignment = batch.alignment(of: pointer)
    stack = .none
    function = Operation(rawValue: 0)
    switch operation {
    case .failed:
      (size, stack) = (raw.size, StackID(raw.stack))
      function = Operation(rawValue: UInt8(truncatingIfNeeded: raw.detail))
    case .reallocFail, .reallocLeft:
      size = raw.size
    case .reallocEnd:
      (address, size) = (Address(raw.address), raw.size)
    default:
      (address, stack) = (BlockKey.address(of: raw.address, operation), StackID(raw.stack))
      if operation.kind == .allocation || operation.hasSize { size = raw.size }
    }
  }
}
