import Symbolication
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// Time ranges and moments, from the words of the user to the rows of a table.
@Suite struct SelectionTests {
  private let sample: SampleRecording

  init() throws {
    sample = try SampleRecording()
  }

  private func total(_ change: (inout ReplayRequest) -> Void) throws -> TallyRow {
    var request = ReplayRequest()
    change(&request)
    let result = try sample.trace.replay(request)
    return try AllocationsReport(result, source: sample.source, query: AllocationsQuery()).total
  }

  @Test func aTimeRangeCountsBlocksAllocatedInIt() throws {
    #expect(try total { $0.from = TimePoint("40ms") }.totalCount == 8)
    #expect(try total { $0.to = TimePoint("00:00.040") }.totalCount == 3)
    let both = try total {
      $0.from = TimePoint("25%")
      $0.to = TimePoint("50%")
    }
    #expect(both.totalCount == 2)
  }

  @Test func aMomentCountsWhatWasLiveThen() throws {
    let at = try total { $0.liveAt = LiveMoment("22ms") }
    #expect((at.persistentCount, at.transientCount) == (2, 0))
    let peak = try total { $0.liveAt = .peak }
    #expect(peak.persistentBytes == (100 << 20) + 64 + 128 + 10)
  }

  @Test func sizesRestrictBlocks() throws {
    #expect(try total { $0.sizes = ByteRange("16-40") }.totalCount == 6)
  }

  @Test func aRangeThatEndsBeforeItBeginsIsAnError() throws {
    let error = #expect(throws: ReportError.self) {
      try total {
        $0.from = TimePoint("2s")
        $0.to = TimePoint("1s")
      }
    }
    #expect(error?.description == "--from 00:02.000.000 is not before --to 00:01.000.000")
  }

  @Test func aMomentBeforeTheRangeIsAnError() throws {
    let error = #expect(throws: ReportError.self) {
      try total {
        $0.from = TimePoint("20ms")
        $0.liveAt = LiveMoment("10ms")
      }
    }
    #expect(error?.description == "--live-at 00:00.010.000 is not after --from 00:00.020.000")
    #expect(
      try total {
        $0.from = TimePoint("20ms")
        $0.liveAt = LiveMoment("20ms")
      }.totalCount == 1)
  }

  @Test func aMomentAfterTheRangeIsAnError() throws {
    let error = #expect(throws: ReportError.self) {
      try total {
        $0.to = TimePoint("20ms")
        $0.liveAt = LiveMoment("30ms")
      }
    }
    #expect(error?.description == "--live-at 00:00.030.000 is after --to 00:00.020.000")
    let both = try total {
      $0.to = TimePoint("22ms")
      $0.liveAt = LiveMoment("22ms")
    }
    #expect(both.persistentCount == 2)
    // The peak is that of the range.
    #expect(
      try total {
        $0.to = TimePoint("22ms")
        $0.liveAt = .peak
      }.totalCount == 2)
  }

  @Test func timesBehindTheEndAreTold() throws {
    var request = ReplayRequest()
    (request.from, request.to, request.liveAt) = (TimePoint("80ms"), TimePoint("1%"), .peak)
    #expect(try sample.trace.endNote(request) == nil)
    (request.to, request.liveAt) = (TimePoint("1s"), LiveMoment("2s"))
    #expect(
      try sample.trace.endNote(request)
        == "The recording ends at 00:00.080.000, before --to and --live-at.")
    request.to = nil
    #expect(
      try sample.trace.endNote(request, moment: "--at", others: [("--marks", TimePoint("3s"))])
        == "The recording ends at 00:00.080.000, before --at and --marks.")
  }

  @Test func ofAKilledProcessTheLastEventIsTheEnd() throws {
    try withKilled { builder in
      builder.allocate(0x1000, 16, time: 90_000)
    } _: { (trace: Trace) throws in
      #expect(try trace.endNote([("--from", TimePoint("90us"))]) == nil)
      #expect(
        try trace.endNote([("--from", TimePoint("91us")), ("--from", TimePoint("92us"))])
          == "The recording ends at 00:00.000.090, before --from.")
    }
  }

  @Test func theEndIsToldUnderTheSelection() throws {
    var query = AllocationsQuery()
    query.filter.scope = ["allocated from 2.0 s on"]
    query.filter.endNote = "The recording ends at 00:00.080.000, before --from."
    var request = ReplayRequest()
    request.from = TimePoint("2s")
    let report = try AllocationsReport(
      sample.trace.replay(request), source: sample.source, query: query)
    let text = try ReportWriter(format: .text).output(of: report)
    #expect(
      text.contains(
        """
        Only: allocated from 2.0 s on
        The recording ends at 00:00.080.000, before --from.
        No allocations to show.
        """))
    #expect(!(try ReportWriter(format: .json).output(of: report)).contains("before"))
  }

  /// Calls `body` with the trace of a process that was killed: the header has no end.
  private func withKilled(
    _ fill: (inout TraceBuilder) -> Void, _ body: (Trace) throws -> Void
  ) throws {
    var builder = TraceBuilder()
    builder.header.endKind = 0
    builder.header.startTicks = 0
    builder.header.endTicks = 1
    fill(&builder)
    var bytes = builder.bytes()
    // end_ticks lies at 200 in the header; a killed process has written none.
    for index in 200..<208 { bytes[index] = 0 }
    let file = try TemporaryFile(bytes)
    try body(Trace(path: file.path))
  }

  @Test func percentagesOfAKilledProcessReachItsLastEvent() throws {
    try withKilled { builder in
      builder.allocate(0x1000, 16, time: 10_000)
      builder.allocate(0x2000, 16, time: 90_000)
    } _: { (trace: Trace) throws in
      var request = ReplayRequest()
      request.to = TimePoint("50%")
      #expect(try trace.replay(request).total.totalCount == 1)
    }
  }

  @Test func soDoThoseOfItsSnapshots() throws {
    try withKilled { builder in
      builder.snapshot(SnapshotBuilder(time: 40_000))
      builder.snapshot(SnapshotBuilder(time: 60_000))
      builder.allocate(0x1000, 16, time: 100_000)
    } _: { (trace: Trace) throws in
      #expect(trace.snapshots.count == 2)
      #expect(try trace.nanoseconds(at: .millionths(500_000)) == 50_000)
      #expect(try trace.snapshotIndex(.moment("50%")) == 0)
      #expect(try trace.snapshotIndex(.moment("70%")) == 1)
    }
  }

  /// The process is over when the last snapshot is taken.
  @Test func allOfARecordingHoldsTheSnapshotBehindItsEnd() throws {
    var builder = TraceBuilder()
    builder.header.endTicks = 50_000
    builder.snapshot(SnapshotBuilder(time: 40_000))
    builder.snapshot(SnapshotBuilder(time: 60_000))
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    #expect(try trace.snapshotIndex(.moment("100%")) == 1)
    #expect(try trace.snapshotIndex(.moment("99%")) == 0)
  }

  @Test func blocksAreListedForTheSameSelection() throws {
    var request = ReplayRequest()
    request.from = TimePoint("40ms")
    request.sizes = ByteRange("24")
    var query = BlocksQuery()
    query.filter.lifespan = .transient
    let report = try BlocksReport(
      sample.trace, source: sample.source, request: request, query: query)
    #expect(report.rows.count == 4)
    #expect(report.rows.map(\.index) == [0, 1, 2, 3])
    #expect(
      report.rows.allSatisfy { $0.freedNanoseconds == $0.timeNanoseconds + 1_000_000 } as Bool)
  }

  @Test(arguments: [false, true])
  func aBlockInTheMiddleOfAReallocIsLiveInTheList(isHandedOn: Bool) throws {
    var builder = TraceBuilder()
    builder.thread(1, tid: 100, name: "app")
    builder.allocate(0x1000, 100, time: 100)
    builder.allocate(0x2000, 300, time: 150)
    builder.add(.reallocBegin, address: 0x1000, time: 200)
    if isHandedOn { builder.allocate(0x1000, 50, thread: 2, time: 250) }
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    let source = ReportSource(trace, file: nil, symbolicator: FakeSymbolicator())
    let report = try BlocksReport(
      trace, source: source, request: ReplayRequest(), query: BlocksQuery())
    let total = try trace.replay(ReplayRequest()).total
    #expect(report.rows.map(\.isLive) == (isHandedOn ? [false, true, true] : [true, true]))
    #expect(report.rows.reduce(0) { $0 + ($1.isLive ? 1 : 0) } == Int(total.liveCount))
  }
}
