import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// Where a process crashed, in words.
@Suite struct CrashReportTests {
  private let sample: SampleRecording
  private let result: ReplayResult

  init() throws {
    sample = try SampleRecording()
    var result = try sample.trace.replay(ReplayRequest())
    (result.errors, result.errorCounts) = ([], [:])
    (result.failedAllocations, result.failedAllocationCount) = ([], 0)
    self.result = result
  }

  private func crash(
    _ access: MemoryAccess.Kind = .unknown, _ address: UInt64 = 0, signal: Int32 = 11,
    code: Int32 = 1, stackPointer: UInt64 = 0
  ) -> Crash {
    Crash(
      access: access, address: address, signal: signal, code: code, thread: ThreadIndex(1),
      stack: .none, time: EventTime(0), stackPointer: stackPointer)
  }

  private func source(_ crash: Crash, _ ending: TraceEnding = .signal(11)) -> ReportSource {
    var source = sample.source
    source.crash = crash
    source.trace.ending = EndingSummary(ending)
    return source
  }

  @Test func whatItDidIsSaid() {
    let cases: [(Crash, String)] = [
      (crash(.read, 0), "read a null pointer"),
      (crash(.write, 0x1230), "wrote to 0x1230, 4,656 B from a null pointer"),
      (crash(.execute, 0), "called a null pointer"),
      (crash(.execute, 0x5a5a_5000), "called 0x5a5a5000, where there is no memory"),
      (crash(.unknown, 0x5a5a_5000), "accessed 0x5a5a5000, where there is no memory"),
      (crash(.write, 0x5a5a_5000, code: 2), "wrote to 0x5a5a5000, where that is not allowed"),
      (crash(code: 128), "followed a word that is no address"),
      (crash(.read, 0x5a5a_5000, signal: 7, code: 2), "read 0x5a5a5000"),
      (crash(.unknown, 0x1000, signal: 8), "divided by zero"),
      (crash(signal: 8, code: 3), "computed what has no result"),
      (crash(signal: 4, code: 2), "ran into a trap, or what is no instruction"),
      (crash(signal: 5, code: 1), "ran into a trap, or what is no instruction"),
      (crash(signal: 6, code: -6), "called abort()"),
      (crash(signal: 6, code: 0), "was sent SIGABRT"),
      (crash(.read, 8, code: 0), "was sent SIGSEGV"),
      (crash(.write, 0x7ffe_fff8, stackPointer: 0x7fff_0000), "used up its stack"),
      (
        crash(.write, 0x7fff_0008, stackPointer: 0x7fff_0000),
        "wrote to 0x7fff0008, where there is no memory"
      ),
    ]
    for (crash, deed) in cases {
      #expect(CrashSummary(crash, source: sample.source).deed == deed)
    }
  }

  @Test func itStandsInThePlaceOfNothing() throws {
    let source = source(crash(.read, 8))
    let lines = ErrorsReport(result, source: source).text().split(separator: "\n")
    #expect(lines[1] == "The process was killed by signal 11 (SIGSEGV).")
    #expect(lines[2].hasPrefix("   It read 0x8, 8 B from a null pointer, on "))
    #expect(lines[2].hasSuffix(" at 00:00.000.000:"))
    #expect(lines[3] == "       <no stack recorded>")
    #expect(lines[4] == "Next:")
    #expect(lines[5].hasSuffix("# whether it used a freed block or wrote past the end of a block"))
    let page = try OverviewReport(result, source: source).text()
    #expect(page.contains("\n   It read 0x8, 8 B from a null pointer, on "))
  }

  @Test func whereItWasIsWorthALook() {
    var source = source(crash())
    source.crash = nil
    let text = ErrorsReport(result, source: source).text()
    #expect(text.contains("# where it was, and whether it used a freed block or wrote"))
  }

  @Test func theEndOfAStackExplainsItself() {
    let source = source(crash(.write, 0x7ffe_fff8, stackPointer: 0x7fff_0000))
    let report = ErrorsReport(result, source: source)
    #expect(report.crash?.isStackOverflow == true)
    let text = report.text()
    #expect(text.contains("\n   It used up its stack, on "))
    #expect(!text.contains("Next:"))
  }

  @Test func theLastEventIsAllThatIsKnownWithoutAHandler() throws {
    var source = source(crash())
    (source.crash, source.lastEvent) = (nil, try sample.trace.lastEvent())
    let last = try #require(source.lastEvent)
    let report = ErrorsReport(result, source: source)
    #expect(report.lastEvent?.stack == last.stack.rawValue)
    let line = "\n   The last event recorded is \(last.operation.name), on "
    #expect(report.text().contains("nothing recorded says why.\(line)"))
    #expect(try OverviewReport(result, source: source).text().contains(line))
    source.crash = crash(.read, 8)
    #expect(ErrorsReport(result, source: source).lastEvent == nil)
    source.trace.ending = EndingSummary(.exit(1))
    #expect(ErrorsReport(result, source: source).lastEvent == nil)
  }

  @Test func anAllocationThatFailedMayBeWhy() throws {
    var failing = result
    let all = try sample.trace.replay(ReplayRequest())
    failing.failedAllocations = all.failedAllocations
    failing.failedAllocationCount = 1
    let lines = ErrorsReport(failing, source: source(crash(.write, 8))).text().split(
      separator: "\n")
    #expect(
      lines[1] == "The process was killed by signal 11 (SIGSEGV), perhaps because an allocation "
        + "failed, see below.")
    #expect(lines[2].hasPrefix("   It wrote to 0x8"))
  }

  @Test func anAbortIsNotSaidTwice() {
    let text = ErrorsReport(result, source: source(crash(signal: 6, code: -6), .abort)).text()
    #expect(text.contains("\nThe process called abort().\n   That was on "))
  }

  /// A handler of the program may have gone on, and a selection of kinds asks for nothing else.
  @Test func itIsLeftOutWhereTheProcessDidNotCrash() {
    let crash = crash(.read, 8)
    #expect(ErrorsReport(result, source: source(crash)).crash != nil)
    #expect(ErrorsReport(result, source: source(crash, .exit(0))).crash == nil)
    #expect(ErrorsReport(result, source: source(crash), kinds: [.doubleFree]).crash == nil)
  }
}
