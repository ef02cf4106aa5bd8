import Testing
import TraceReader

/// Recordings of a sample: what is in it is whole, and stands for the rest.
@Suite struct SamplingTests {
  private func record(
    _ program: String, _ arguments: [String] = [], interval: String = "16KiB", seed: Int
  ) throws -> TracedRun {
    try TracedRun(
      [try TestProgram(program).path.string] + arguments,
      start: .launcher(["--sample", interval]), environment: ["MEMTRACE_SAMPLE_SEED=\(seed)"])
  }

  /// Expects an estimate within four standard errors: one in 16 000 is further off, and the seeds
  /// do not change.
  private func expect(
    _ estimate: UInt64, variance: Double, is truth: UInt64,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let distance = abs(Double(estimate) - Double(truth))
    #expect(
      distance <= 4 * variance.squareRoot() + 1, "\(estimate), not \(truth)",
      sourceLocation: sourceLocation)
    #expect(variance.squareRoot() < Double(truth) / 4, sourceLocation: sourceLocation)
  }

  @Test(arguments: [1, 2, 3])
  func estimatesAreCloseToTheTruth(seed: Int) throws {
    let result = try record("sampled.c", seed: seed).root().replay()

    let small = try #require(result.sites.first { $0.sizeClass.bytes == 32 })
    let smallErrors = try #require(small.variance)
    expect(small.tally.totalCount, variance: smallErrors.totalCount, is: 300_000)
    expect(small.tally.totalBytes, variance: smallErrors.totalBytes, is: 300_000 * 24)
    #expect(small.tally.liveCount == 0)

    let kept = try #require(
      result.sites.first { $0.sizeClass.bytes == 1008 && $0.operation == .malloc })
    let keptErrors = try #require(kept.variance)
    expect(kept.tally.totalCount, variance: keptErrors.totalCount, is: 20_000)
    expect(kept.tally.liveCount, variance: keptErrors.liveCount, is: 10_000)
    expect(kept.tally.liveBytes, variance: keptErrors.liveBytes, is: 10_000_000)
    expect(kept.tally.freedBytes, variance: keptErrors.freedBytes, is: 10_000_000)

    // The blocks of realloc: 500 + 1000 + … + 1 000 000 + 40.
    let grown = result.sites.filter { $0.operation == .realloc }
    let bytes = grown.reduce(0) { $0 + $1.tally.totalBytes }
    let variance = grown.reduce(0) { $0 + ($1.variance?.totalBytes ?? 0) }
    expect(bytes, variance: variance, is: 500 * 2000 * 2001 / 2 + 40)
    #expect(grown.allSatisfy { $0.tally.liveCount == 0 })

    for (function, size) in [
      ("posix_memalign", 640), ("aligned_alloc", 704), ("memalign", 768),
    ] as [(String, UInt64)] {
      let aligned = try #require(result.sites.first { $0.operation.name == function })
      let errors = try #require(aligned.variance)
      expect(aligned.tally.totalCount, variance: errors.totalCount, is: 10_000)
      expect(aligned.tally.totalBytes, variance: errors.totalBytes, is: 10_000 * size)
      expect(aligned.tally.freedBytes, variance: errors.totalBytes, is: 10_000 * size)
    }

    expect(result.peak.bytes, variance: result.peak.bytesVariance, is: 20_000_000)
    #expect(result.errors.isEmpty)
    #expect(result.coverage.unknownFrees == 0)
    #expect(result.coverage.implicitlyFreed == 0)
  }

  /// Of many runs the mean has to be nearer than any of them: a bias would show.
  @Test func theMeanOfManyRunsIsTheTruth() throws {
    var (bytes, count, variance, countVariance) = (0.0, 0.0, 0.0, 0.0)
    for seed in 1...20 {
      let result = try record("sampled.c", interval: "64KiB", seed: seed).root().replay()
      let small = try #require(result.sites.first { $0.sizeClass.bytes == 32 })
      bytes += Double(small.tally.totalBytes) / 20
      count += Double(small.tally.totalCount) / 20
      variance += (small.variance?.totalBytes ?? 0) / 400
      countVariance += (small.variance?.totalCount ?? 0) / 400
    }
    #expect(abs(bytes - 7_200_000) < 3 * variance.squareRoot())
    #expect(abs(count - 300_000) < 3 * countVariance.squareRoot())
    #expect(variance.squareRoot() < 7_200_000 / 40)
  }

  @Test func aSeedMakesTheSampleRepeatable() throws {
    let runs = try (0..<2).map { _ in
      try record("sampled.c", seed: 7).root().replay().total
    }
    #expect(runs[0] == runs[1])
    let other = try record("sampled.c", seed: 8).root().replay().total
    #expect(other != runs[0])
  }

  @Test func everyFreeOfASampleIsRecorded() throws {
    let root = try record("sampled.c", interval: "1KiB", seed: 1).root()
    let events = try MarkedEvents(root)

    #expect(events[24].allocated > 5000)
    #expect(events[24].freed == events[24].allocated)
    #expect(events[1000].allocated > 9000)
    #expect(events[40] == .init() || events[40] == .init(allocated: 1, freed: 1))
    #expect(events[500_000] == .init(allocated: 1, freed: 1))
    #expect(events.unknownFrees == 0)
    #expect(events.doubleOwners == 0)
  }

  @Test func threadsAreSampledEachForItself() throws {
    let root = try record("sampled.c", ["8"], interval: "4KiB", seed: 5).root()
    let events = try MarkedEvents(root)
    let result = try root.replay()

    let small = result.sites.filter { $0.sizeClass.bytes == 32 && $0.operation == .malloc }
    #expect(small.count == 8)
    expect(
      small.reduce(0) { $0 + $1.tally.totalCount },
      variance: small.reduce(0) { $0 + ($1.variance?.totalCount ?? 0) }, is: 2_400_000)
    // Their beginnings are not the same.
    #expect(Set(small.map(\.tally.totalCount)).count > 4)
    #expect(events[24].freed == events[24].allocated)
    #expect(events.unknownFrees == 0)
    #expect(events.doubleOwners == 0)
    #expect(result.errors.isEmpty)
  }

  /// Blocks that one thread allocates and another frees.
  @Test func freesByOtherThreadsAreRecorded() throws {
    let run = try record("threads.c", ["2000", "16"], interval: "8KiB", seed: 2)
    let events = try MarkedEvents(try run.root())

    #expect(events[16002].allocated > 1000)
    #expect(events[16002].freed == events[16002].allocated)
    #expect(events.unknownFrees == 0)
  }

  @Test func aForkedChildIsSampledAsWell() throws {
    let run = try record("fork.c", interval: "100", seed: 3)
    let traces = try run.allTraces()
    try #require(traces.count == 2)
    let (above, below) = (try MarkedEvents(traces[0]), try MarkedEvents(traces[1]))

    // Blocks of 120 intervals are in any sample.
    #expect(above[12001] == .init(allocated: 1, freed: 1))
    #expect(above[12003] == .init(allocated: 1, freed: 1))
    #expect(below[12002] == .init(allocated: 1, freed: 1))
    let child = try traces[1].replay()
    #expect(traces[1].header.sampleInterval == 100)
    #expect(child.errors.isEmpty)
    #expect(child.coverage.inheritedFrees > 0)
  }

  @Test(arguments: ["entry_points.c", "entry_points.cpp"])
  func everyFunctionIsSampled(_ program: String) throws {
    let whole = try MarkedEvents(try TracedRun([try TestProgram(program).path.string]).root())
    let events = try MarkedEvents(try record(program, interval: "1", seed: 1).root())

    // A distance of one byte leaves out nothing of more than a few.
    let marked = whole.lives.keys.filter { $0 > 1000 }
    #expect(marked.count > 10)
    for size in marked { #expect(events.functions(size) == whole.functions(size)) }
  }

  @Test func theVariableAloneWillDo() throws {
    let run = try TracedRun(
      [try TestProgram("sampled.c").path.string],
      start: .preload(["MEMTRACE_OUTPUT=root.mtrace", "MEMTRACE_SAMPLE=32KiB"]))
    let header = try run.root().header
    #expect(header.sampleInterval == 32 << 10)
    #expect(header.flags.contains(.sampled))
  }

  @Test func withoutASampleEverythingIsRecorded() throws {
    let root = try TracedRun([try TestProgram("sampled.c").path.string]).root()
    #expect(root.header.sampleInterval == 0)
    #expect(!root.header.flags.contains(.sampled))
    #expect(try root.replay().sampling == nil)
    #expect(try MarkedEvents(root)[24] == .init(allocated: 300_000, freed: 300_000))
  }
}
