import Foundation
import LeakAnalysis
import Symbolication
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// Makes every report of randomly damaged traces: no trap, and no error but those that users are told.
///
/// `MEMTRACE_FUZZ_ITERATIONS` and `MEMTRACE_FUZZ_SEED` as in `FuzzTests` of the reader.
@Suite struct DamagedReportTests {
  private struct Sample {
    var bytes: [UInt8]
    var symbolicator: FakeSymbolicator
  }

  private static func bytes(_ file: TemporaryFile) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: file.path.string)))
  }

  private static func samples() throws -> [Sample] {
    let leaks = try LeakRecording()
    let (packed, plain) = (try leaks.packed(), try SampleRecording())
    let sampled = try SampleRecording(sampleInterval: 512 << 10)
    let noticed = try SampleRecording(hasNoticedErrors: true)
    let mapped = try MappingRecording()
    return [
      Sample(bytes: try bytes(leaks.file), symbolicator: leaks.symbolicator),
      Sample(bytes: try bytes(packed.file), symbolicator: leaks.symbolicator),
      Sample(bytes: try bytes(plain.file), symbolicator: plain.symbolicator),
      Sample(bytes: try bytes(sampled.file), symbolicator: sampled.symbolicator),
      Sample(bytes: try bytes(noticed.file), symbolicator: noticed.symbolicator),
      Sample(bytes: try bytes(mapped.file), symbolicator: mapped.symbolicator),
    ]
  }

  @Test func reportsSurviveDamagedTraces() throws {
    let first = FuzzSetting.firstSeed
    let iterations = FuzzSetting.iterations(default: 300)
    let samples = try Self.samples()
    var made = 0
    for seed in first..<first + iterations {
      let sample = samples[Int(seed % UInt64(samples.count))]
      var damage = Damager(seed: seed)
      let file = try TemporaryFile(damage.damaged(sample.bytes))
      guard let trace = try? Trace(path: file.path) else { continue }
      let source = ReportSource(trace, file: "app.mtrace", symbolicator: sample.symbolicator)
      made += try ReportExercise(trace: trace, source: source).run(seed: seed)
    }
    // Damage that lets nothing be reported would test nothing.
    #expect(made > iterations * 4)
  }
}

/// Makes all reports of a trace, in all forms.
private struct ReportExercise {
  let trace: Trace
  let source: ReportSource

  /// - Returns: How many reports there were; the others have said why there are none.
  func run(seed: UInt64) throws -> Int {
    var request = ReplayRequest()
    var made = 0
    for part in 0..<2 {
      if part == 1 { request.from = TimePoint("25%") }
      made += try attempt(seed) { try all(of: trace.replay(request)) }
    }
    made += try attempt(seed) { try write(InfoReport(trace, source: source, listsAll: true)) }
    made += try attempt(seed) {
      try write(MappingsReport(trace, source: source, query: MappingsQuery()))
    }
    made += try attempt(seed) { try write(HeapReport(trace, source: source, query: HeapQuery())) }
    made += try attempt(seed) {
      try write(HistoryReport(trace, address: Address(LeakRecording.node), source: source))
    }
    for index in trace.snapshots.indices.prefix(3) {
      made += try attempt(seed) { try leaks(at: index) }
    }
    return made
  }

  private func attempt(_ seed: UInt64, _ body: () throws -> Int) throws -> Int {
    do {
      return try body()
    } catch is TraceError {
      return 0
    } catch is ReportError {
      return 0
    } catch {
      Issue.record("seed \(seed): \(error)")
      return 0
    }
  }

  private func all(of replayed: ReplayResult) throws -> Int {
    var result = replayed
    trace.addNoticedErrors(to: &result)
    return try write(OverviewReport(result, source: source))
      + write(AllocationsReport(result, source: source, query: AllocationsQuery()))
      + write(CallTreeReport(result, source: source, query: CallTreeQuery()))
      + write(UnfreedReport(result, source: source, query: UnfreedQuery()))
      + write(ErrorsReport(result, source: source))
  }

  private func leaks(at index: Int) throws -> Int {
    let analysis = try trace.leakAnalysis(atSnapshot: index, source: source)
    var query = LeaksQuery()
    query.treeLines = 10
    var made = try write(LeaksReport(analysis, source: source, query: query))
    made += try write(
      DanglingReport(
        try DanglingPointers(analysis, in: trace), source: source, query: DanglingQuery()))
    made += try write(ReferenceTreeReport(analysis, source: source, limit: 50))
    if analysis.heap.blocks.count > 0 {
      made += try write(
        TraceTreeReport(
          analysis, address: LeakRecording.node, source: source, limit: 20))
    }
    return made
  }

  private func write(_ report: some Report) throws -> Int {
    _ = report.text()
    _ = report.text(width: 40)
    _ = try ReportWriter(format: .json).output(of: report)
    if report.csv != nil { _ = try ReportWriter(format: .csv).output(of: report) }
    return 1
  }
}
