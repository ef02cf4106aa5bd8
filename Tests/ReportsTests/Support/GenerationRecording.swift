import CTraceFormat
import Symbolication
import TraceReader
import TraceTestSupport

@testable import Reports

/// A recording with marks; times in milliseconds.
///
/// ```
///  5  1000 B                       baseline
/// 10  100 B, at the mark's time    baseline
/// 10  mark "warm"
/// 12  2 × 48 B, one freed at 25
/// 20  mark "request"
/// 22  200 B
/// 24  64 B, realloc'd to 128 B at 32
/// 30  mark "request"
/// 33  16 B, freed at 60
/// 70  mark "end"                   after the last event
/// ```
struct GenerationRecording {
  let file: TemporaryFile
  let trace: Trace
  let symbolicator = FakeSymbolicator()

  /// Makes a recording that says it is a sample, unless the interval is 0.
  init(sampleInterval: UInt64 = 0, hasMarks: Bool = true) throws {
    var builder = TraceBuilder()
    builder.header.startTicks = 0
    builder.header.endTicks = 80_000_000
    builder.header.sampleInterval = sampleInterval
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0x40_0000, start: Address(0x40_0000),
        end: Address(0x41_0000), textStart: Address(0x40_1000), textEnd: Address(0x40_2000)))
    builder.thread(1, tid: 4711, name: "app")
    // Not in order: one from outside may be in a chunk after later ones.
    if hasMarks {
      for (name, time) in [("request", 20), ("warm", 10), ("request", 30), ("end", 70)] {
        builder.mark(name, time: UInt64(time) * 1_000_000)
      }
    }
    Self.fill(&builder)
    file = try builder.write()
    trace = try Trace(path: file.path)
    symbolicator.add("main", at: 0x40_1000, file: "/src/app.c", line: 10)
    symbolicator.add("load_cache", at: 0x40_1100, file: "/src/cache.c", line: 5)
    symbolicator.add("handle_request", at: 0x40_1200, file: "/src/server.c", line: 41)
  }

  private static func fill(_ builder: inout TraceBuilder) {
    let load = builder.stack([0x40_1100, 0x40_1000])
    let handle = builder.stack([0x40_1200, 0x40_1000])
    let ms: (UInt64) -> UInt64 = { $0 * 1_000_000 }
    builder.allocate(0x1000, 1000, stack: load, time: ms(5))
    builder.allocate(0x2000, 100, stack: load, time: ms(10))
    builder.allocate(0x3000, 48, stack: handle, time: ms(12))
    builder.allocate(0x3100, 48, stack: handle, time: ms(13))
    builder.allocate(0x4000, 200, stack: handle, time: ms(22))
    builder.allocate(0x5000, 64, stack: load, time: ms(24))
    builder.free(0x3100, stack: handle, time: ms(25))
    builder.add(.reallocBegin, address: 0x5000, stack: handle, time: ms(31))
    builder.add(.reallocEnd, address: 0x6000, size: 128, time: ms(32))
    builder.allocate(0x7000, 16, stack: handle, time: ms(33))
    builder.free(0x7000, stack: handle, time: ms(60))
  }

  /// What reports read.
  var source: ReportSource {
    ReportSource(trace, file: "app.mtrace", symbolicator: symbolicator)
  }

  /// The generations up to a moment.
  func generations(
    at moment: LiveMoment? = nil, _ change: (inout GenerationMarks) -> Void = { _ in }
  ) throws -> Generations {
    var marks = GenerationMarks()
    change(&marks)
    var request = ReplayRequest()
    request.liveAt = moment
    return try Generations(trace, marks: marks, request: request)
  }
}
