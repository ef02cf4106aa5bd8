import CTraceFormat
import Symbolication
import TraceReader
import TraceTestSupport

@testable import Reports

/// A recording of a program that maps memory in each of the ways that reports tell apart.
struct MappingRecording {
  let file: TemporaryFile
  let trace: Trace
  let symbolicator = FakeSymbolicator()

  init() throws {
    var builder = TraceBuilder()
    builder.header.startTicks = 0
    builder.header.endTicks = 90_000_000
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0x40_0000, start: Address(0x40_0000),
        end: Address(0x41_0000), textStart: Address(0x40_1000), textEnd: Address(0x40_2000)))
    builder.thread(1, tid: 4711, name: "app")
    builder.mark("loaded", time: 45_000_000)
    Self.fill(&builder)
    file = try builder.write()
    trace = try Trace(path: file.path)
    for (name, line, address) in [("main", 10, 0x40_1000), ("new_slab", 5, 0x40_1100)] {
      symbolicator.add(
        name, at: UInt64(address), file: "/src/app.c", line: line, image: "/opt/app/app")
    }
  }

  var source: ReportSource {
    ReportSource(trace, file: "app.mtrace", symbolicator: symbolicator)
  }

  private static func fill(_ builder: inout TraceBuilder) {
    let main = builder.stack([0x40_1000]), slab = builder.stack([0x40_1100, 0x40_1000])
    func call(
      _ function: MappingCall.Function, _ milliseconds: UInt64, ended: MappedRange = .empty,
      begun: MappedRange = .empty, protection: UInt32 = 3, flags: UInt32 = 0x22,
      path: String = "", stack: StackID
    ) -> MappingCall {
      MappingCall(
        function, endTime: EventTime(milliseconds * 1_000_000),
        time: EventTime(milliseconds * 1_000_000 + 5000), ended: ended, begun: begun,
        stack: stack, thread: ThreadIndex(1), protection: protection, flags: flags, path: path)
    }
    let heap = MappedRange(at: 0x7000_0000, length: 1 << 30)
    let slabs = (0..<4).map { MappedRange(at: 0x6000_0000 + $0 << 20, length: 1 << 20) }
    builder.mapping(call(.mmap, 10, begun: heap, protection: 0, stack: main))
    builder.mapping(
      call(.mprotect, 15, begun: MappedRange(at: heap.start, length: 4 << 20), stack: .none))
    for (index, range) in slabs.enumerated() {
      builder.mapping(call(.mmap, 20 + UInt64(index), begun: range, stack: slab))
    }
    builder.mapping(
      call(
        .mmap, 30, begun: MappedRange(at: 0x5000_0000, length: 8192), protection: 1, flags: 2,
        path: "/usr/share/app/names.db", stack: main))
    builder.mapping(
      call(
        .mmap, 40, begun: MappedRange(at: 0x5100_0000, length: 65536), flags: 1,
        path: "/memfd:ring (deleted)", stack: .none))
    builder.mapping(call(.munmap, 50, ended: slabs[0], stack: main))
    builder.mapping(
      call(
        .munmap, 60, ended: MappedRange(at: slabs[1].start, length: 1 << 19), stack: main))
    builder.mapping(
      call(.munmap, 70, ended: MappedRange(at: 0x9_0000_0000, length: 4096), stack: main))
  }
}
