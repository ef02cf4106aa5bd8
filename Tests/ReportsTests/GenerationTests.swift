import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// What grew from mark to mark, to the byte.
@Suite struct GenerationTests {
  private let sample: GenerationRecording

  init() throws {
    sample = try GenerationRecording()
  }

  private func report(
    at moment: LiveMoment? = nil, _ change: (inout GenerationMarks) -> Void = { _ in },
    query: GenerationsQuery = GenerationsQuery()
  ) throws -> GenerationsReport {
    try GenerationsReport(
      sample.source, sample.generations(at: moment, change), query: query)
  }

  /// `name bytes count` of each row.
  private func rows(_ report: GenerationsReport) -> [String] {
    report.generations.map { "\($0.name) \($0.growth.bytes) \($0.growth.count)" }
  }

  @Test func blocksBelongToTheMarkBeforeThem() throws {
    let report = try report()
    #expect(
      rows(report) == [
        "- Baseline - 1100 2", "warm 48 1", "request 200 1", "request 128 1", "end 0 0",
      ]
    )
    #expect((report.total.bytes, report.total.count) == (1476, 5))
    #expect(
      report.generations.map(\.timeNanoseconds) == [0, 10, 20, 30, 70].map { $0 * 1_000_000 })
    #expect(
      report.generations.map(\.endNanoseconds) == [10, 20, 30, 70, 70].map { $0 * 1_000_000 })
  }

  @Test func aMomentDecidesWhatLivesAndWhichMarksCount() throws {
    #expect(
      rows(try report(at: LiveMoment("24ms"))) == [
        "- Baseline - 1100 2", "warm 96 2", "request 264 2",
      ])
    #expect(
      rows(try report(at: LiveMoment("request"))) == [
        "- Baseline - 1100 2", "warm 48 1", "request 264 2",
      ])
    let error = #expect(throws: ReportError.self) { try report(at: LiveMoment("reqest")) }
    #expect(error?.description == "no mark \"reqest\" in this trace; near: request")
  }

  @Test func marksCanBeChosenAndMadeAfterwards() throws {
    #expect(
      rows(try report { $0.chosen = ["warm,e*"] }) == [
        "- Baseline - 1100 2", "warm 376 3", "end 0 0",
      ])
    #expect(
      rows(try report { $0.chosen = ["11ms,0.023s", "warm"] }) == [
        "- Baseline - 1100 2", "warm 0 0", "Generation A 248 2", "Generation B 128 1",
      ])
    #expect(
      rows(try report { $0.every = TimePoint("30ms") }) == [
        "- Baseline - 1348 4", "Generation A 128 1", "Generation B 0 0",
      ])
    #expect(try report { $0.every = TimePoint("25%") }.generations.count == 4)
  }

  @Test func impossibleMarksAreExplained() throws {
    let cases: [(String, (inout GenerationMarks) -> Void)] = [
      ("no mark \"warn\" in this trace; near: warm", { $0.chosen = ["5ms,warn"] }),
      ("--marks names no time and no mark", { $0.chosen = [","] }),
      ("--every takes a time above 0, such as 5s", { $0.every = TimePoint("0s") }),
      ("--every is longer than the recording", { $0.every = TimePoint("2m") }),
      (
        "--every makes 80,000,000 generations; at most 10,000 are possible",
        { $0.every = TimePoint("1ns") }
      ),
    ]
    for (message, change) in cases {
      let error = #expect(throws: ReportError.self) { try report(change) }
      #expect(error?.description == message)
    }
    let none = try GenerationRecording(hasMarks: false)
    let error = #expect(throws: ReportError.self) { try none.generations() }
    #expect(error?.description.hasPrefix("the trace has no marks; make some with --every") == true)
  }

  @Test func filtersAndLimitsApply() throws {
    var query = GenerationsQuery()
    query.filter.responsible = "handle_request"
    query.generations = 2
    let report = try report(query: query)
    #expect(rows(report) == ["request 200 1", "request 128 1"])
    #expect(report.generationCount == 5)
    query = GenerationsQuery()
    query.top = 1
    let first = try self.report(query: query).generations[0]
    #expect(first.categories.map(\.name) == ["Malloc-1008"])
    #expect(first.categoryCount == 2)
  }

  @Test func theTableIsExact() throws {
    expectSnapshot(try report().text(bytes: .exact), "generations.txt")
    let narrow = try report().text(width: 80)
    #expect(narrow.split(separator: "\n").allSatisfy { $0.displayWidth <= 80 })
    expectSnapshot(
      try ReportWriter(format: .csv).output(of: report()), "generations.csv")
    var query = GenerationsQuery()
    query.stacks = 1
    expectSnapshot(
      try ReportWriter(format: .json).output(of: report(query: query)), "generations.json")
  }

  @Test func aCategoryHasItsStacks() throws {
    var query = GenerationsQuery()
    query.stacks = 10
    let categories = try report(query: query).generations.flatMap(\.categories)
    #expect(categories.count == 5)
    #expect(categories.allSatisfy { $0.stacks.count == $0.stackCount })
    for category in categories {
      #expect(category.stacks.map(\.growth.bytes).reduce(0, +) == category.growth.bytes)
    }
    let baseline = try report(query: query).generations[0].categories
    #expect(baseline.map(\.stacks.count) == [1, 1])
    #expect(baseline[0].stacks[0].frames.map(\.name) == ["load_cache", "main"])
    query.stacks = 0
    #expect(try report(query: query).generations[0].categories.map(\.stackCount) == [1, 1])
  }

  @Test func oneGenerationIsShownAsBlocksStacksAndCallTree() throws {
    let (result, name) = try sample.generations().restricted(to: "warm")
    var filter = SiteFilter()
    filter.lifespan = .persistent
    filter.generation = name
    let blocks = try BlocksReport(liveIn: result, source: sample.source, filter: filter)
    #expect(blocks.rows.map(\.address) == [0x3000])
    #expect(blocks.text().contains("Only: generation \"warm\", created and still living"))
    var unfreed = UnfreedQuery()
    unfreed.filter = filter
    let stacks = try UnfreedReport(result, source: sample.source, query: unfreed)
    #expect(stacks.groups.map(\.bytes) == [48])
    #expect(stacks.groups[0].frames.map(\.name) == ["handle_request", "main"])
    var tree = CallTreeQuery()
    tree.filter = filter
    let calls = try CallTreeReport(result, source: sample.source, query: tree)
    #expect(calls.nodes.map { "\($0.name) \($0.bytes)" } == ["main 48", "handle_request 48"])
  }

  @Test func generationsAreFoundByNameAndLetter() throws {
    let generations = try sample.generations()
    #expect(try generations.restricted(to: "baseline").result.total.liveBytes == 1100)
    // Two marks of one name.
    #expect(try generations.restricted(to: "request").result.total.liveBytes == 328)
    let made = try sample.generations { $0.every = TimePoint("30ms") }
    #expect(try made.restricted(to: "a").name == "Generation A")
    let error = #expect(throws: ReportError.self) { try generations.restricted(to: "warn") }
    #expect(error?.description == "no generation \"warn\" in this trace; near: warm")
  }

  @Test func samplesAreScaled() throws {
    let sample = try GenerationRecording(sampleInterval: 101)
    let report = try GenerationsReport(
      sample.source, sample.generations(), query: GenerationsQuery())
    // A block of 100 bytes is in the sample with the probability 1 - 1/e.
    let first = report.generations[0].growth
    #expect(first.count == 3)
    #expect((first.countMargin ?? 0) > 0)
    let whole = try sample.generations().result
    #expect(report.total.bytes.distance(to: whole.total.liveBytes).magnitude <= 3)
    let part = try sample.generations().restricted(to: "baseline").result
    #expect(part.total.liveCount == 3)
    #expect(report.text().contains("Estimated from a sample of 1 in 101 B"))
  }

  @Test func rangesBeginAndEndAtMarks() throws {
    func total(_ change: (inout ReplayRequest) -> Void) throws -> Tally {
      var request = ReplayRequest()
      change(&request)
      return try sample.trace.replay(request).total
    }
    // The block with the mark's own time was before it.
    #expect(try total { $0.from = .mark("warm") }.totalCount == 6)
    #expect(try total { $0.to = .mark("warm") }.totalCount == 2)
    #expect(try total { $0.liveAt = LiveMoment("warm") }.liveBytes == 1100)
    #expect(
      try total {
        $0.from = .mark("warm")
        $0.to = TimePoint("22ms")
      }.totalBytes == 96)
    let marks = "there are warm, request, end"
    #expect(throws: ReportError.notFound("no mark \"cold\" in this trace; \(marks)")) {
      try total { $0.from = .mark("cold") }
    }
    let forms = "a time looks like one of 1.5s, 200ms, 300us, 2m, 00:01.500, 40%"
    #expect(throws: ReportError.notFound("no mark \"200%\" in this trace; \(marks); \(forms)")) {
      try total { $0.liveAt = LiveMoment("200%") }
    }
  }
}
