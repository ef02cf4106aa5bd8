import CTraceFormat
import Symbolication
import TraceReader
import TraceTestSupport

@testable import Reports

/// A recording as a file, with one of everything that reports talk about.
///
/// Two threads: the first reads and frees, the second frees again what the first has freed.
struct SampleRecording {
  let file: TemporaryFile
  let trace: Trace
  let symbolicator = FakeSymbolicator()

  /// Makes a recording that says it is a sample, unless the interval is 0; in another one errors show
  /// beside the events, too; in one with switches recording could be paused.
  init(
    sampleInterval: UInt64 = 0, hasNoticedErrors: Bool = false,
    switches: [(time: UInt64, isPaused: Bool)]? = nil
  ) throws {
    var builder = TraceBuilder()
    Self.describe(&builder)
    if let switches {
      builder.header.flags.insert(.pausable)
      for change in switches { builder.pause(change.isPaused, time: change.time) }
    }
    builder.header.sampleInterval = sampleInterval
    Self.fill(&builder)
    if hasNoticedErrors { Self.addNoticedErrors(to: &builder) }
    file = try builder.write()
    trace = try Trace(path: file.path)
    let app = "/opt/app/app"
    symbolicator.add("main", at: 0x40_1000, file: "/src/app.c", line: 10, image: app)
    symbolicator.add("make_node", at: 0x40_1100, file: "/src/node.c", line: 5, image: app)
    symbolicator.add("handle_request", at: 0x40_1200, file: "/src/server.c", line: 41, image: app)
    symbolicator.add("drop_node", at: 0x40_1300, file: "/src/node.c", line: 19, image: app)
    symbolicator.add("worker_loop", at: 0x40_1400, file: "/src/worker.c", line: 77, image: app)
    symbolicator.add("read_all", at: 0x40_1500, file: "/src/io.c", line: 33, image: app)
    symbolicator.add("qsort", at: 0x7f_0000_1000, image: "/usr/lib/x86_64-linux-gnu/libc.so.6")
  }

  /// What reports read.
  var source: ReportSource {
    ReportSource(trace, file: "server.mtrace", symbolicator: symbolicator)
  }

  private static func describe(_ builder: inout TraceBuilder) {
    builder.header.flags = [.follow, .launched]
    builder.header.startTicks = 0
    builder.header.endTicks = 80_000_000
    builder.header.endKind = UInt32(MT_END_SIGNAL.rawValue)
    builder.header.endStatus = 6
    builder.header.ramBytes = 256 << 20
    builder.process(
      executable: "/opt/app/app", directory: "/home/user",
      arguments: ["./app", "--once", "two words"])
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", buildID: [0xab, 0xcd, 0x01], loadBias: 0x40_0000,
        start: Address(0x40_0000), end: Address(0x41_0000), textStart: Address(0x40_1000),
        textEnd: Address(0x40_2000)))
    builder.image(
      Image(
        index: 1, path: "/usr/lib/x86_64-linux-gnu/libc.so.6", loadBias: 0x7f_0000_0000,
        start: Address(0x7f_0000_0000), end: Address(0x7f_0010_0000),
        textStart: Address(0x7f_0000_1000), textEnd: Address(0x7f_0008_0000)))
    builder.thread(1, tid: 4711, name: "app")
    builder.thread(2, tid: 4712, name: "worker", state: .began, time: 5_000_000)
    builder.thread(2, tid: 4712, name: "", state: .ended, time: 60_000_000)
    builder.note(kind: UInt32(MT_NOTE_CHILD.rawValue), text: "", value: 4713, time: 6_000_000)
    builder.mark("request 1", time: 20_000_000)
  }

  private static func fill(_ builder: inout TraceBuilder) {
    let main: UInt64 = 0x40_1000
    let make = builder.stack([0x40_1100, 0x40_1200, main])
    let handle = builder.stack([0x40_1200, main])
    let drop = builder.stack([0x40_1300, 0x40_1400], isCut: true)
    let read = builder.stack([0x40_1500, main])
    let sort = builder.stack([0x7f_0000_1000, main])
    let ms: (UInt64) -> UInt64 = { $0 * 1_000_000 }
    builder.allocate(0x100_0000, 100 << 20, stack: read, time: ms(10))
    builder.allocate(0x20_0010, 16, stack: make, time: ms(20))
    builder.free(0x20_0010, stack: handle, time: ms(25))
    builder.free(0x20_0010, stack: drop, thread: 2, time: ms(31))
    builder.allocate(0x20_0100, 40, .init(rawValue: 14), stack: make, time: ms(32))
    builder.free(0x20_0100, stack: handle, time: ms(33))
    for index in UInt64(0)..<4 {
      builder.allocate(0x20_0200, 24, stack: sort, time: ms(40 + 2 * index))
      builder.free(0x20_0200, stack: sort, time: ms(41 + 2 * index))
    }
    builder.allocate(0x20_0300, 64, stack: make, time: ms(50))
    builder.free(0x20_0310, stack: handle, time: ms(51))
    builder.free(0x66_6660, stack: handle, time: ms(52))
    builder.allocate(0x20_0400, 64, stack: make, time: ms(53))
    builder.add(.reallocBegin, address: 0x20_0400, stack: handle, time: ms(54))
    builder.add(.reallocEnd, address: 0x20_0500, size: 128, time: ms(55))
    builder.add(
      .failed, size: 1 << 40, stack: read, function: .malloc, time: ms(56))
    builder.allocate(0x20_0600, 10, stack: make, time: ms(57))
    builder.free(0x20_0600, size: 12, .init(rawValue: 27), stack: handle, time: ms(58))
  }
  private static func addNoticedErrors(to builder: inout TraceBuilder) {
    let (live, freed) = (Address(0x20_0500), Address(0x20_0100))
    let thread = ThreadIndex(1)
    for found in [ZombieUse.Discovery.release, .end] {
      builder.zombie(
        ZombieUse(
          block: freed, evidence: .written(offset: 8, length: 16, when: found), thread: thread,
          time: EventTime(61_000_000)))
    }
    builder.zombie(
      ZombieUse(
        block: freed, evidence: .followed(signal: 11, stack: StackID(3)), thread: thread,
        time: EventTime(62_000_000)))
    for (block, found) in [(freed, BlockOverrun.Discovery.free), (live, .end)] {
      builder.overrun(
        BlockOverrun(
          block: block, size: 40, offset: 48, length: 3, found: found, thread: thread,
          time: EventTime(63_000_000)))
    }
    for (call, count) in [(RefcountEvent.Call.retain, UInt64(2)), (.release, 1), (.release, 0)] {
      builder.count(call, live.rawValue, count: count, stack: StackID(4), time: 64_000_000)
    }
    builder.count(.release, freed.rawValue, count: 1, stack: StackID(4), time: 65_000_000)
  }
}
