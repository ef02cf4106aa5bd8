import Reports
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Programs whose own allocators announce their blocks.
@Suite(.serialized) struct PoolTests {
  private typealias Figures = LeakedProgram.Figures

  private static func errors(_ what: String, start: TracedRun.Start = .launcher([])) throws
    -> TracedRun
  {
    try TracedRun(
      [try TestProgram("pool_errors.c", flags: TestProgram.withMarks).path.string, what],
      start: start, comparesErrors: what != "free")
  }

  @Test(arguments: [[], ["--zombies"], ["--redzones"], ["--guard"]])
  func leaksInPools(options: [String]) throws {
    let program = try TestProgram("pools.c", flags: TestProgram.withMarks)
    let trace = try TracedRun([program.path.string], start: .launcher(options)).root()
    #expect("\(trace.header.major).\(trace.header.minor)" == "2.2")
    let leaked = try LeakedProgram(trace)
    #expect(
      leaked.leaksByCase == [
        "leak_chain": 2, "leak_cycle": 2, "leak_what_it_holds": 2, "leak_in_mapping": 1,
        "leak_in_variable": 1, "leak_pool": 4,
      ])
    #expect(leaked.possibleByCase == [:])
    #expect(leaked.report.leaked.bytes == 64 + 64 + 32 + 48 + 32 + 32 + 4096)
    #expect((leaked.report.rootLeakCount, leaked.report.rootCycleCount) == (5, 1))
    let ignored = leaked.report.reachable.first { $0.root == "ignored" }
    #expect(ignored?.blocks == BlockSum(count: 3, bytes: 32 + 40 + 56))

    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(result.coverage.implicitlyFreed == 0)
    let announced = result.sites.filter { $0.operation == .announced }
    #expect(announced.reduce(0) { $0 + $1.tally.totalCount } == 23)
    #expect(announced.reduce(0) { $0 + $1.tally.freedCount } == 4)
    let names = FrameNames(trace)
    #expect(
      announced.allSatisfy {
        ["take_of", "keep_grown", "keep_wrapped"].contains(names.names(of: $0.stack).first)
      })
  }

  /// Nobody has written to a block that is announced, nor does anybody read it.
  @Test func announcingMakesNoWarnings() throws {
    let run = try ProcessRun.run(
      ["/usr/bin/env", "gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null"]
        + TestProgram.withMarks + [TestProgram.sources.appending("announces.c").string])
    #expect(run.status == 0, "\(run.errorText)")
  }

  @Test func secondEnd() throws {
    let trace = try Self.errors("twice").root()
    let error = try #require(try trace.replay().errors.first)
    #expect(error.kind == .doubleFree)
    #expect(error.block?.size == 32)
    let names = FrameNames(trace)
    #expect(error.block.map { names.names(of: $0.allocation.stack).first } == "take")
    #expect(error.firstFree.map { names.names(of: $0.stack).first } == "give")
    #expect(names.names(of: error.offending.stack).first == "give_again")
  }

  @Test(
    arguments: [
      ("unknown", MemoryError.Kind.freeOfUnknown, nil, Operation.announcedEnd),
      ("malloc", .mismatched, .malloc, .announcedEnd),
      ("free", .mismatched, .announced, .free),
      ("pool", .doubleFree, .announced, .announcedEnd),
    ] as [(String, MemoryError.Kind, Operation?, Operation)])
  func misuse(
    what: String, kind: MemoryError.Kind, allocation: Operation?, offending: Operation
  ) throws {
    let errors = try Self.errors(what).root().replay().errors
    #expect(errors.map(\.kind) == [kind])
    #expect(errors.first?.block?.allocation.operation == allocation)
    #expect(errors.first?.offending.operation == offending)
  }

  @Test func threadsThatShareAPool() throws {
    let result = try Self.errors("threads").root().replay()
    #expect(result.errors.isEmpty)
    #expect(result.coverage.implicitlyFreed == 0)
    let announced = result.sites.filter { $0.operation == .announced }
    #expect(announced.reduce(0) { $0 + $1.tally.totalCount } == 20_000)
    #expect(announced.reduce(0) { $0 + $1.tally.liveCount } == 0)
  }

  @Test func poolsThatOtherThreadsFree() throws {
    let result = try Self.errors("over").root().replay()
    #expect(result.errors.isEmpty)
    let announced = result.sites.filter { $0.operation == .announced }
    #expect(announced.reduce(0) { $0 + $1.tally.totalCount } == 200)
    #expect(announced.reduce(0) { $0 + $1.tally.liveCount } == 0)
  }

  @Test func arenasThatAreFreedAtOnce() throws {
    let trace = try Self.errors("arena").root()
    let result = try trace.replay()
    let announced = result.sites.filter { $0.operation == .announced }
    #expect(announced.reduce(0) { $0 + $1.tally.totalCount } == 200)
    #expect(announced.reduce(0) { $0 + $1.tally.liveCount } == 0)
    #expect(result.coverage.implicitlyFreed == 0)
  }

  @Test func childrenAnnounceForThemselves() throws {
    let traces = try Self.errors("fork").allTraces()
    try #require(traces.count == 2)
    for trace in traces { #expect(try trace.replay().errors.isEmpty) }
    let child = try #require(traces.first { $0.header.flags.contains(.forked) })
    #expect(child.header.major == 2)
    let result = try child.replay()
    #expect(result.coverage.inheritedFrees == 1)
    let announced = result.sites.filter { $0.operation == .announced }
    #expect(announced.map(\.tally.liveBytes) == [32])
  }

  @Test func callsOfHeaptrackAreUnderstood() throws {
    let result = try Self.errors("heaptrack").root().replay()
    #expect(result.errors.isEmpty)
    let announced = result.sites.filter { $0.operation == .announced }
    #expect(announced.reduce(0) { $0 + $1.tally.totalBytes } == 60)
    #expect(announced.reduce(0) { $0 + $1.tally.liveBytes } == 30)
  }

  @Test(arguments: [["--sample", "1KiB"], ["--paused"]])
  func blocksOfAPartOfTheAllocationsAreCounted(options: [String]) throws {
    let trace = try Self.errors("heaptrack", start: .launcher(options)).root()
    #expect(trace.header.major == 1)
    #expect(trace.coverage.announcedLeftOut == 5)
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect(!result.sites.contains { $0.operation == .announced })
  }
}
