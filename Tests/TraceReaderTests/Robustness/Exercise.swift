import CTraceFormat
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// What was read out of a damaged trace, to compare with what there can be.
struct Exercise {
  var events: UInt64 = 0
  var frames = 0
  var words = 0
  var noticed = 0
  var mapped = 0
  var damaged: UInt64 = 0
  var opened = false

  /// Calls everything that looks at bytes of the file.
  ///
  /// - Returns: How far it came; a trap is the failure to look for.
  static func run(_ path: FilePath) throws -> Exercise {
    var exercise = Exercise()
    let trace: Trace
    do throws(TraceError) {
      trace = try Trace(path: path)
    } catch {
      _ = error.description
      return exercise
    }
    exercise.opened = true
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    var result = try trace.replay(options)
    let shown = result.errors.count
    trace.addNoticedErrors(to: &result)
    exercise.noticed = result.errors.count - shown
    exercise.events = result.eventCount
    exercise.damaged = result.coverage.damageCount
    for site in result.sites.prefix(200) {
      for frame in trace.stacks.frames(of: site.stack).prefix(500) {
        exercise.frames += 1
        _ = trace.images.image(containing: frame.lookupAddress, seenBy: frame.node)
      }
      _ = trace.stacks.isCut(site.stack)
      _ = site.sizeClass.name
    }
    for block in result.liveBlocks.prefix(3) {
      _ = try trace.history(of: block.address)
      _ = trace.clock.nanoseconds(block.time)
    }
    for error in result.errors.prefix(3) { _ = try trace.history(of: error.address) }
    options.timeRange =
      result.peak.time..<EventTime(max(result.peak.time, result.lastTime).rawValue)
    options.sizes = 1...100
    _ = try trace.replay(options)
    options.passesOverEarlier = true
    _ = try trace.replay(options)
    exercise.mapped = trace.mappings().mappings.count
    try exercise.readSnapshots(of: trace)
    return exercise
  }

  private mutating func readSnapshots(of trace: Trace) throws {
    for info in trace.snapshots.prefix(4) {
      let memory = try trace.loadSnapshot(info.index)
      var words = 0
      memory.forEachWord(in: 0..<UInt64.max) { address, value in
        _ = memory.isMapped(address)
        words += memory.word(at: address) == value ? 1 : 0
      }
      #expect(words == memory.wordCount)
      self.words += words
      for thread in info.threads {
        _ = thread.stackStart.map(memory.word(at:))
        _ = thread.signalStack.map { memory.word(at: $0.lowerBound) }
      }
    }
  }
}

/// Small traces with everything that a trace can hold.
enum SampleTraces {
  /// A few events of every kind by three threads.
  static func small(_ operations: [Operation] = blockOperations) -> TraceBuilder {
    var trace = TraceBuilder()
    addRecords(to: &trace)
    let stacks = [
      trace.stack([0x40_1010, 0x40_1000]), trace.stack([0x7f00_0010, 0x40_1000], isCut: true),
    ]
    for (index, operation) in operations.enumerated() {
      let address = 0x5000_0000 + UInt64(index % 9) * 32
      trace.add(
        operation, address: address, size: UInt64(index * 31), alignment: 64,
        stack: stacks[index % 2], thread: UInt32(index % 3))
    }
    trace.allocate(0x5000_1000, 64, stack: stacks[0])
    trace.reallocate(0x5000_1000, to: 0x5000_2000, 128, stack: stacks[1])
    trace.add(.reallocBegin, address: 0x5000_2000, stack: stacks[0])
    trace.add(.reallocFail, size: 1 << 40)
    trace.add(.failed, size: 1 << 50, stack: stacks[1], thread: 2)
    trace.add(.thread, thread: 9, lane: 2)
    trace.add(.malloc, address: 0x5000_2008, size: 8, thread: 9, lane: 2)
    trace.free(0x5000_2000, stack: stacks[0])
    trace.free(0x5000_2000, stack: stacks[1])
    trace.free(0x5000_2009, stack: stacks[1])
    addTypes(to: &trace, stacks)
    addNoticedErrors(to: &trace, stacks)
    addSnapshot(to: &trace)
    return trace
  }

  private static func addTypes(to trace: inout TraceBuilder, _ stacks: [StackID]) {
    let node = BlockType(
      id: TypeID(rawValue: 1), kind: .swiftClass, name: "app.Node", words: [0x40_4010],
      definition: Address(0x40_4100), instanceSize: 32)
    let leaf = BlockType(
      id: TypeID(rawValue: 2), kind: .cxxClass, name: "4Leaf", words: [0x40_5010, 0x40_5020],
      definition: Address(0x40_5000), base: node.id)
    trace.type(node, code: MT_TYPE_SWIFT_CLASS.rawValue)
    trace.type(leaf, code: MT_TYPE_CXX_CLASS.rawValue)
    trace.typed(TypeSighting(stack: stacks[0], size: 32, type: node.id))
    trace.typed(
      TypeSighting(
        stack: stacks[1], size: 64, type: leaf.id, evidence: .freed, freeStack: stacks[0]))
  }

  private static func addNoticedErrors(to trace: inout TraceBuilder, _ stacks: [StackID]) {
    let (freed, live) = (Address(0x5000_2000), Address(0x5000_2008))
    let (thread, time) = (ThreadIndex(1), EventTime(1045))
    trace.zombie(
      ZombieUse(
        block: freed, evidence: .written(offset: 8, length: 16, when: .end), thread: thread,
        time: time))
    trace.zombie(
      ZombieUse(
        block: freed, evidence: .followed(signal: 11, stack: stacks[1]), thread: thread,
        time: time))
    for (block, found) in [(freed, BlockOverrun.Discovery.free), (live, .end)] {
      trace.overrun(
        BlockOverrun(
          block: block, size: 8, offset: 9, length: 3, found: found, thread: thread, time: time))
    }
    for (block, isFreed) in [(freed, true), (live, false)] {
      trace.access(
        GuardedAccess(
          block: block, size: 8, isFreed: isFreed,
          access: MemoryAccess(kind: .write, offset: 16, signal: 11), thread: thread,
          stack: stacks[0], time: time))
    }
    (trace.header.endKind, trace.header.endStatus) = (UInt32(MT_END_SIGNAL.rawValue), 11)
    trace.crash(
      Crash(
        access: .write, address: 0x5000_3000, signal: 11, code: 1, thread: ThreadIndex(2),
        stack: stacks[0], time: time, stackPointer: 0x7f20_0000))
    trace.count(.retain, live.rawValue, count: 1, stack: stacks[0], time: 1046)
    trace.count(.release, freed.rawValue, count: 0, stack: stacks[1], time: 1047)
  }

  private static func addRecords(to trace: inout TraceBuilder) {
    trace.process(executable: "/usr/bin/true", arguments: ["true", "x"])
    trace.image(
      Image(
        index: 0, path: "/usr/bin/true", buildID: [1, 2, 3, 4], loadBias: 0x40_0000,
        start: Address(0x40_0000), end: Address(0x40_8000), textStart: Address(0x40_1000),
        textEnd: Address(0x40_2000), firstStack: .first))
    trace.image(
      Image(
        index: 1, path: "/usr/lib/libc.so.6", loadBias: 0x7f00_0000, start: Address(0x7f00_0000),
        end: Address(0x7f10_0000), textStart: Address(0x7f00_0000),
        textEnd: Address(0x7f10_0000), firstStack: .first))
    trace.unload(image: 1, time: 1010, firstStack: StackID(3))
    trace.thread(1, tid: 4711, name: "main")
    trace.thread(2, tid: 4712, name: "worker", state: .named)
    trace.thread(2, tid: 4712, state: .ended, time: 1050)
    for kind in 1...10 { trace.note(kind: UInt32(kind), text: "malloc: jemalloc") }
    trace.mark("here", time: 1020)
    trace.pause(false, thread: 1, time: 1021)
    let (first, second) = (MappedRange(at: 0x6000_0000, length: 65536), 0x6000_8000 as UInt64)
    trace.mapping(
      MappingCall(
        .mmap, endTime: EventTime(1022), time: EventTime(1023), begun: first, protection: 3,
        flags: 2, path: "/usr/lib/libc.so.6"))
    trace.mapping(
      MappingCall(
        .munmap, endTime: EventTime(1024), time: EventTime(1025),
        ended: MappedRange(at: second, length: 4096)))
  }

  private static func addSnapshot(to trace: inout TraceBuilder) {
    var snapshot = SnapshotBuilder(time: 1040)
    snapshot.region(0x40_4000..<0x40_8000)
    snapshot.region(0x5000_0000..<0x5000_4000, path: "[heap]")
    snapshot.thread(1, tid: 4711, sp: 0x5000_3000, registers: [1, 2], tlsBase: 0x5000_3f00)
    snapshot.threads[0].signalStack = 0x5000_2000..<0x5000_2800
    snapshot.kernelWords = [(0x5000_1000, 1, 3), (0x5000_2000, 2, 0), (1, 9, 9)]
    snapshot.words(at: 0x40_4000, [0x5000_1000, 0, .max])
    snapshot.words(at: 0x5000_0ff8, [3, 0x5000_0ff8, 1 << 47])
    trace.snapshot(snapshot)
  }

  /// Some hundred random events in many short chunks of several threads.
  static func random(
    seed: UInt64, _ operations: [Operation] = blockOperations
  ) -> TraceBuilder {
    var random = SeededGenerator(seed: seed)
    var trace = small(operations)
    for _ in 0..<400 {
      let operation = operations[Int.random(in: 0..<operations.count, using: &random)]
      let thread = UInt32.random(in: 0..<5, using: &random)
      trace.add(
        operation, address: 0x6000_0000 + .random(in: 0..<60, using: &random) * 16,
        size: .random(in: 0..<3000, using: &random), alignment: 32,
        stack: StackID(.random(in: 0..<8, using: &random)), thread: thread)
      if Int.random(in: 0..<60, using: &random) == 0 { trace.endChunk(of: thread) }
    }
    return trace
  }
}
