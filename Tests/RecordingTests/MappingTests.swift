import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Calls that map memory, of real processes.
@Suite(.serialized) struct MappingTests {
  private static let page: UInt64 = 4096

  private func record(
    _ which: String, options: [String] = ["--mappings"]
  ) throws -> TracedRun {
    try TracedRun(
      [try TestProgram("mappings.c", flags: ["-pthread"]).path.string, which],
      start: .launcher(options))
  }

  /// What `mappings.c sequence` leaves: kind, pages, and pages that are left and that are reserved.
  private static let sequence: [[UInt64]] = [
    [16, 16, 0], [10, 7, 0], [5, 0, 0], [5, 0, 0], [5, 0, 0], [2, 2, 0], [1000, 993, 973],
    [7, 7, 0], [1, 0, 0], [30, 30, 0], [1, 1, 0], [3, 2, 0],
  ]
  private static let kinds: [MappingKind] = [
    .anonymous, .anonymous, .anonymous, .anonymous, .anonymous, .file, .anonymous, .anonymous,
    .anonymous, .anonymous, .shared, .programBreak,
  ]

  private func expectSequence(
    _ history: MappingHistory, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let pages = history.mappings.map { mapping in
      [mapping.range.length, mapping.liveBytes, mapping.reservedBytes].map { $0 / Self.page }
    }
    #expect(pages == Self.sequence, sourceLocation: sourceLocation)
    #expect(history.mappings.map(\.kind) == Self.kinds, sourceLocation: sourceLocation)
    #expect(history.foreignBytes == 0, sourceLocation: sourceLocation)
  }

  @Test func allThatTheProgramMapsIsThere() throws {
    let trace = try record("sequence").root()
    let history = trace.mappings()
    expectSequence(history)
    let file = try #require(history.mappings.first { $0.kind == .file })
    #expect(file.path == "/etc/passwd")
    #expect(file.protection == 1 && !file.isShared)
    let shared = try #require(history.mappings.first { $0.kind == .shared })
    #expect(shared.path == "/memfd:ring (deleted)" && shared.isShared)
    #expect(history.mappings.allSatisfy { $0.thread == ThreadIndex(1) })
    #expect(history.mappings.allSatisfy { $0.stack.rawValue > 0 })
    #expect(history.peakBytes == 86 * Self.page)
    #expect(trace.coverage.damage.isEmpty)
  }

  @Test func nothingIsRecordedUnlessAskedFor() throws {
    let trace = try record("sequence", options: []).root()
    #expect(!trace.recordsMappings)
    #expect(trace.mappingCalls.isEmpty)
  }

  @Test func callsThatFailAreNotRecorded() throws {
    let trace = try record("failures").root()
    #expect(trace.mappingCalls.map(\.function) == [.mmap, .mmap, .munmap])
    #expect(trace.mappings().liveBytes == Self.page)
  }

  @Test func threadsThatHaveTheSamePagesAreToldApart() throws {
    let trace = try record("threads").root()
    let history = trace.mappings()
    #expect(history.mappings.count == 2000)
    #expect(history.liveBytes == 0)
    #expect(history.foreignBytes == 0)
    #expect(history.mappings.allSatisfy { $0.endStack != nil && $0.range.length == Self.page })
    // Whoever unmaps a page is who has mapped it.
    let ends = trace.mappingCalls.filter { $0.function == .munmap }
    let threads = Dictionary(grouping: ends, by: \.thread).mapValues(\.count)
    #expect(Array(threads.values) == [500, 500, 500, 500])
    #expect(history.peakBytes <= 4 * Self.page)
  }

  @Test func aChildHasItsOwn() throws {
    let traces = try record("forks").allTraces()
    #expect(traces.count == 2)
    let histories = traces.map { $0.mappings() }
    #expect(traces.allSatisfy { $0.recordsMappings })
    #expect(histories.map { $0.mappings.map(\.range.length) } == [[16384], [36864]])
    #expect(histories.map(\.foreignBytes) == [0, 16384])
    #expect(histories.map(\.liveBytes) == [16384, 36864])
  }

  @Test func whatIsMappedWhileRecordingIsPausedIsLeftOut() throws {
    let trace = try record("sequence", options: ["--mappings", "--paused"]).root()
    #expect(trace.recordsMappings)
    #expect(trace.mappings().mappings.isEmpty)
  }

  @Test func blocksAreRecordedAsEver() throws {
    let plain = try record("sequence", options: []).root().replay()
    let both = try record("sequence").root().replay()
    #expect(plain.eventCount == both.eventCount)
  }

  @Test func aProcessThatRunsCanBeAskedForThem() throws {
    let folder = try ScratchDirectory()
    let run = try ProcessRun.run(
      [
        try TestProgram("mappings.c", flags: ["-pthread"]).path.string, "sequence",
        "'\(BuiltProducts.memtrace)' attach $MARKED_PID -o root.mtrace --mappings --for 1ms"
          + " --no-snapshot >attach.txt 2>&1; '\(BuiltProducts.memtrace)' resume $MARKED_PID >>attach.txt",
      ], environment: TracedRun.minimalEnvironment, directory: folder.path, timeout: 120)
    #expect(run.status == 0)
    let trace = try Trace(path: folder.path.appending("root.mtrace"))
    #expect(trace.recordsMappings)
    expectSequence(trace.mappings())
  }
}
