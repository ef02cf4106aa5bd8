import Symbolication

@testable import Reports
@testable import TraceReader

/// A small program in memory: its stacks, threads and names, for reports to be made of.
///
/// ```
/// #2 main        app.c:10     (root)
/// #3 parse       parser.c:20  called by main
/// #4 make_node     node.c:5     called by parse
/// #5 emit        emit.c:30    called by main
/// #6 libz's inflateInit_      called by main
/// #7 worker      worker.c:7   (root, cut)
/// #8 libstdc++'s start-up      (root)
/// ```
struct SampleTrace {
  var symbolicator = FakeSymbolicator()
  var threads = [
    ThreadInfo(index: ThreadIndex(1), tid: 100, name: "app", began: EventTime(0)),
    ThreadInfo(index: ThreadIndex(2), tid: 101, name: "worker", began: EventTime(10)),
  ]
  var summary = TraceSummary(
    file: "app.mtrace", executable: "/opt/app/app", arguments: ["./app", "--once"], pid: 100,
    durationNanoseconds: 2_000_000_000, ending: EndingSummary(.exit(0)))
  var availableBytes: UInt64? = 1 << 30

  init() {
    symbolicator.add("main", at: 0x1002, file: "/src/app.c", line: 10)
    symbolicator.add("parse", at: 0x1003, file: "/src/parser.c", line: 20)
    symbolicator.add("make_node", at: 0x1004, file: "/src/node.c", line: 5)
    symbolicator.add("emit", at: 0x1005, file: "/src/emit.c", line: 30)
    symbolicator.add("inflateInit_", at: 0x1006, image: "/usr/lib/x86_64-linux-gnu/libz.so.1")
    symbolicator.add("worker", at: 0x1007, file: "/src/worker.c", line: 7)
    symbolicator.add("call_init", at: 0x1008, image: "/lib64/ld-linux-x86-64.so.2")
  }

  var source: ReportSource {
    let parents: [UInt32] = [0, 2, 3, 2, 2, 1, 0]
    let nodes = parents.enumerated().map { index, parent in
      StackTable.Node(pc: 0x1002 + UInt64(index), parent: parent, flags: 0)
    }
    let stacks = StackTable(
      nodes: nodes, spans: [StackTable.Span(first: 2, count: nodes.count, position: 0)])
    return ReportSource(
      trace: summary, clock: TraceClock(header: TraceHeader()), threads: ThreadNames(threads),
      names: StackNames(
        stacks: stacks, images: ImageMap(images: []), symbolicator: symbolicator),
      availableBytes: availableBytes)
  }

  /// The example of issue 2: 5 blocks of 1000 bytes of which 4 are freed, 15 of 12 bytes of
  /// which 10 are freed.
  static var workedExample: ReplayResult {
    var result = ReplayResult()
    result.sites = [
      site(stack: 4, size: 1000, count: 5, freed: 4, temporary: 4, peak: 2),
      site(stack: 5, size: 12, count: 15, freed: 10, peak: 5),
    ]
    let large = block(0x5000, size: 1000, stack: 4, time: 500_000_000, site: 0)
    let small = (0..<5).map {
      block(0x6000 + $0 * 16, size: 12, stack: 5, time: 1_000_000_000 + $0, site: 1)
    }
    result.liveBlocks = LiveBlocks([large] + small)
    complete(&result)
    return result
  }

  static func complete(_ result: inout ReplayResult) {
    result.total = result.sites.reduce(into: Tally()) { $0 += $1.tally }
    result.eventCount = result.total.totalCount + result.total.freedCount
    result.peak.bytes = result.total.peakBytes
    result.peak.count = result.total.peakCount
    result.peak.time = EventTime(1_000_000_000)
    result.lastTime = EventTime(2_000_000_000)
    result.timeline.bucketNanoseconds = 250_000_000
    result.timeline.bucketTicks = 250_000_000
    result.timeline.liveBytes = [0, 1000, 1000, 1500, 2060, 1060, 1060, 1060]
  }

  static func site(
    stack: UInt32, thread: UInt32 = 1, size: UInt64, count: UInt64, freed: UInt64 = 0,
    temporary: UInt64 = 0, peak: UInt64 = 0, operation: Operation = .malloc
  ) -> Site {
    var tally = Tally()
    tally.totalCount = count
    tally.totalBytes = count * size
    tally.freedCount = freed
    tally.freedBytes = freed * size
    tally.temporaryCount = temporary
    tally.peakCount = peak
    tally.peakBytes = peak * size
    return Site(
      stack: StackID(stack), thread: ThreadIndex(thread), operation: operation,
      sizeClass: SizeClass(containing: size), tally: tally)
  }

  static func block(
    _ address: UInt64, size: UInt64, stack: UInt32, time: UInt64, site: Int, thread: UInt32 = 1
  ) -> LiveBlock {
    LiveBlock(
      address: Address(address), size: size, alignment: 0, operation: .malloc,
      stack: StackID(stack), thread: ThreadIndex(thread), time: EventTime(time), site: site)
  }

  static func event(
    _ operation: Operation, stack: UInt32, thread: UInt32 = 1, time: UInt64
  ) -> MemoryError.EventSite {
    MemoryError.EventSite(
      operation: operation, stack: StackID(stack), thread: ThreadIndex(thread),
      time: EventTime(time))
  }
}

extension Report {
  /// The report as text.
  func text(width: Int? = nil, bytes: ByteStyle = .human, isColoured: Bool = false) -> String {
    var page = TextPage(style: TextStyle(width: width, isColoured: isColoured, bytes: bytes))
    write(to: &page)
    return page.text
  }
}
