import Foundation
import Testing
import TraceReader
import TraceTestSupport

/// Children and programs that replace themselves: one trace each, and none writes into another's.
@Suite struct ProcessTests {
  @Test func aForkedChildHasItsOwnTrace() throws {
    let run = try TracedRun([try TestProgram("fork.c").path.string])
    let traces = try run.allTraces()
    try #require(traces.count == 2)
    let (parent, child) = (traces[0], traces[1])

    #expect(child.header.flags.contains(.forked))
    #expect(child.header.parentTraceID == parent.header.traceID)
    #expect(child.header.sessionID == parent.header.sessionID)
    #expect(child.header.ppid == parent.header.pid)
    #expect(parent.ending == .exit(0))
    #expect(child.ending == .exit(7))

    let (above, below) = (try MarkedEvents(parent), try MarkedEvents(child))
    #expect(above[12001] == .init(allocated: 1, freed: 1))
    #expect(above[12002] == .init())
    #expect(above[12003] == .init(allocated: 1, freed: 1))
    #expect(below[12001] == .init())
    #expect(below[12002] == .init(allocated: 1, freed: 1))
    // The inherited block is not the child's error.
    let replay = try child.replay()
    #expect(replay.errors.isEmpty)
    #expect(replay.coverage.inheritedFrees > 0)
  }

  /// A child's stacks have IDs of its own trace, also those that its parent knew when it forked.
  @Test(arguments: [6, 128, 1024])
  func aForkedChildHasItsOwnStacks(depth: Int) throws {
    let run = try TracedRun(
      [try TestProgram("deep_fork.c").path.string],
      start: .launcher(["--depth", String(depth)]))
    let traces = try run.allTraces()
    try #require(traces.count == 2)
    func stacks(_ trace: Trace, size: UInt64) throws -> [[String]] {
      let names = FrameNames(trace)
      return try (MarkedEvents(trace).lives[size] ?? []).flatMap { life in
        [names.names(of: life.allocation.stack)]
          + (life.deallocation.map { [names.names(of: $0.stack)] } ?? [])
      }
    }

    let before = try stacks(traces[0], size: 38001)
    #expect(before.count == 2)
    #expect(before.allSatisfy { $0.first == "allocate" && $0.count <= depth + 1 })
    #expect(try stacks(traces[1], size: 38002) == before)
    #expect(try stacks(traces[0], size: 38003) == before)
  }

  @Test func aForkedChildIsLeftAloneWithNoFollow() throws {
    let run = try TracedRun(
      [try TestProgram("fork.c").path.string], start: .launcher(["--no-follow"]))
    let events = try MarkedEvents(try run.root())

    #expect(run.traces.count == 1)
    #expect(events[12001] == .init(allocated: 1, freed: 1))
    #expect(events[12002] == .init())
    #expect(events[12003] == .init(allocated: 1, freed: 1))
  }

  @Test(arguments: [1000])
  func manyForksGiveOneTraceEach(count: Int) throws {
    let run = try TracedRun([try TestProgram("forks.c").path.string, String(count)])

    #expect(run.traces.count == count + 1)
    for trace in try run.allTraces().dropFirst() {
      #expect(trace.ending == .underscoreExit(5))
      #expect(try MarkedEvents(trace)[14001] == .init(allocated: 1, freed: 1))
    }
  }

  @Test func everyExecBeginsATrace() throws {
    let run = try TracedRun([try TestProgram("execs.c").path.string, "200"])
    let traces = try run.allTraces()

    #expect(traces.count == 201)
    #expect(Set(traces.map(\.header.pid)).count == 1)
    #expect(traces.dropLast().allSatisfy { $0.ending == .exec })
    #expect(traces.last?.ending == .exit(9))
    for trace in traces {
      #expect(try MarkedEvents(trace)[15001] == .init(allocated: 1, freed: 1))
    }
  }

  /// The recorder's variables are what is one too many.
  @Test(arguments: ["execve", "execvpe", "execveat", "fexecve", "posix_spawn", "posix_spawnp"])
  func aProgramWithoutRoomForOurEnvironmentRunsUnrecorded(way: String) throws {
    let run = try TracedRun([try TestProgram("long_environment.c").path.string, way])
    #expect(run.plain.outputText.hasPrefix("\(way): 26"))
    #expect(run.plain.outputText.hasSuffix(" bytes\n0\nE2BIG\n"))
    #expect(run.traces.count == 1)
    #expect(try run.root().coverage.childrenNotFollowedCount == 1)
  }

  @Test(arguments: ["vfork", "posix_spawn", "posix_spawn-empty", "execve-empty", "fexecve"])
  func aStartedProgramIsRecorded(way: String) throws {
    let program = try TestProgram("spawn.c")
    let run = try TracedRun([program.path.string, way])
    let traces = try run.allTraces()
    let parent = try MarkedEvents(try run.root())

    #expect(parent[13002] == .init(allocated: 1, freed: 1))
    #expect(parent[13003] == .init(allocated: 1, freed: 1))
    #expect(parent[13001] == .init())
    let children = try traces.filter { try MarkedEvents($0)[13001].allocated == 1 }
    try #require(children.count == 1)
    #expect(children[0].ending == .exit(6))
    #expect(children[0].header.sessionID == traces.first?.header.sessionID)
  }

  /// The trace of the child that is started with an empty environment.
  private func child(startedBy way: String, _ options: [String]) throws -> Trace {
    let run = try TracedRun(
      [try TestProgram("spawn.c").path.string, way],
      start: .preload(["MEMTRACE_OUTPUT=root.mtrace"] + options))
    return try #require(
      try run.allTraces().first { try MarkedEvents($0)[13001].allocated == 1 })
  }

  @Test(arguments: ["posix_spawn-empty", "execve-empty"])
  func optionsOutliveAnEmptyEnvironment(way: String) throws {
    let plain = try child(
      startedBy: way,
      [
        "MEMTRACE_STACKS=0", "MEMTRACE_DEPTH=7", "MEMTRACE_SNAPSHOT_AT_EXIT=0",
        "MEMTRACE_SAMPLE=1", "MEMTRACE_SAMPLE_SEED=7",
      ])
    #expect(plain.header.stackDepth == 7)
    #expect(plain.header.sampleInterval == 1)
    #expect(plain.snapshots.isEmpty)
    let lives = try MarkedEvents(plain).lives[13001] ?? []
    #expect(lives.map(\.allocation.stack) == [.none])

    let rich = try child(
      startedBy: way,
      [
        "MEMTRACE_SNAPSHOT_CONTENTS=1", "MEMTRACE_SNAPSHOT_ON_REQUEST=1",
        "MEMTRACE_UNWINDER=compare",
      ])
    #expect(rich.snapshots.map(\.keepsContents) == [true])
    #expect(rich.header.snapshotSignal != 0)
    #if arch(x86_64)
      #expect(rich.coverage.stacksCompared > 0)
    #endif
  }

  @Test func anOptionThatAProgramSetsStands() throws {
    let program = try TestProgram("spawn.c")
    let run = try TracedRun(
      ["/bin/sh", "-c", "MEMTRACE_DEPTH=5 \"$0\" child", program.path.string],
      start: .preload(["MEMTRACE_OUTPUT=root.mtrace", "MEMTRACE_DEPTH=9"]))
    let traces = try run.allTraces()
    #expect(traces.first?.header.stackDepth == 9)
    #expect(try run.traces(of: program).map(\.header.stackDepth) == [5])
  }

  @Test(arguments: ["system", "popen"])
  func aProgramBehindAShellIsRecorded(way: String) throws {
    let program = try TestProgram("spawn.c")
    let run = try TracedRun([program.path.string, way])

    let recorded = try run.allTraces().filter { try MarkedEvents($0)[13001].allocated == 1 }
    #expect(recorded.count == 1)
  }

  @Test func aFailedExecAfterVforkHarmsNobody() throws {
    let run = try TracedRun([try TestProgram("spawn.c").path.string, "vfork-failing"])
    let root = try run.root()
    let parent = try MarkedEvents(root)

    #expect(parent[13002] == .init(allocated: 1, freed: 1))
    #expect(parent[13003] == .init(allocated: 1, freed: 1))
    #expect(root.ending == .exit(0))
  }

  @Test(arguments: [
    ("return", TraceEnding.exit(11)), ("exit", .exit(12)), ("_exit", .underscoreExit(13)),
    ("_Exit", .underscoreExit(14)), ("quick_exit", .quickExit(15)), ("thread", .exit(16)),
    ("main-thread-first", .exit(16)), ("exit_group", .underscoreExit(17)), ("abort", .abort),
    ("segv", .signal(11)), ("kill", .signal(9)),
  ])
  func theEndIsRecorded(way: String, ending: TraceEnding) throws {
    let run = try TracedRun([try TestProgram("endings.c").path.string, way])
    let root = try run.root()

    #expect(root.ending == ending)
    // Also where only the launcher can know.
    #expect(root.header.endTicks >= root.header.latestTicks)
    #expect(try MarkedEvents(root)[29001] == .init(allocated: 1, freed: 0))
  }

  /// The C library ends the caller by an `_exit` that is not to be seen.
  @Test func whoMakesADaemonHasAnEndAndASnapshot() throws {
    let run = try TracedRun([try TestProgram("daemon.c").path.string])
    let traces = try run.allTraces()
    try #require(traces.count == 3)

    #expect(run.plain.outputText == "daemon\n")
    #expect(traces.map(\.ending) == [.exit(0), .underscoreExit(0), .exit(5)])
    #expect(traces.map(\.snapshots.count) == [1, 1, 1])
    #expect(try MarkedEvents(traces[1])[46003] == .init(allocated: 1, freed: 0))
    #expect(try MarkedEvents(traces[1])[46002] == .init())
    #expect(try MarkedEvents(traces[2])[46002] == .init(allocated: 1, freed: 1))
  }

  @Test func aFailedDaemonIsNoEnd() throws {
    let run = try TracedRun([try TestProgram("daemon.c").path.string, "fails"])
    #expect(run.plain.outputText == "-1 11\n")
    #expect(run.plain.status == 6)
    #expect(try run.root().ending == .exit(6))
  }

  @Test(arguments: [100_000, 3_000_000])
  func everyCompletedEventSurvivesAKill(pairs: Int) throws {
    // GIVEN a program that counts what it has done in memory that outlives it
    let program = try TestProgram("killed.c")
    let run = try TracedRun([program.path.string, "counter", String(pairs)])
    let counter = run.directory.path.appending("counter").string
    let bytes = try Data(contentsOf: URL(filePath: counter))
    let completed = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }

    // THEN the trace holds all of it, and at most the one that was in progress
    let root = try run.root()
    let figures = try MarkedEvents(root)[22001]
    #expect(root.ending == .signal(9))
    #expect(UInt64(figures.freed) >= completed)
    #expect(UInt64(figures.allocated) <= completed + 1)
  }

  /// A child may be killed as soon as it has been forked.
  @Test func aFileIsATraceOnceItHasRoomForItsHeader() throws {
    // GIVEN a child that is stopped at each system call between its trace's creation and its magic
    let run = try TracedRun([try TestProgram("early_kill.c").path.string, "stops"])

    // THEN there are four: the limit on sizes is asked, room taken, mapped, and kept from forks
    let stops = run.directory.path.appending("stops").string
    let lines = try String(contentsOfFile: stops, encoding: .utf8).split(separator: "\n")
    #expect(lines.last == "a trace")
    #expect(lines.count == 5)
    let traces = try run.allTraces()
    #expect(traces.map(\.ending) == [.exit(0), .underscoreExit(0)])
  }

  /// Shells fork for each command: what a child is to begin with is what it waits for.
  @Test func aForkedChildTouchesNoTableThatIsEmpty() throws {
    // GIVEN a process of one thread, whose table of owners (128 pages) nobody has written to
    let run = try TracedRun([try TestProgram("fork_faults.c").path.string, "faults"])
    let faults = run.directory.path.appending("faults").string

    // THEN its child is given some 125 pages until it has a block, and none of those
    let count = try #require(Int(try String(contentsOfFile: faults, encoding: .utf8)))
    #expect(count < 190)
    let traces = try run.allTraces()
    #expect(
      try traces.map { try MarkedEvents($0)[36002] } == [.init(), .init(allocated: 1, freed: 1)])
  }

  /// In another root or mount namespace, or for a user who may not read it: ld.so would complain on
  /// the program's standard error.
  @Test func aProgramThatCannotSeeTheRecorderIsLeftAlone() throws {
    let folder = try ScratchDirectory()
    let library = folder.path.appending("libmemtrace.so")
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", "cp \"$0\" \"$1\"; LD_PRELOAD=$1 exec /bin/sh -c \"$2\"",
        BuiltProducts.library.string, library.string,
        "/bin/echo before; /bin/rm '\(library)'; /bin/echo after; exec /bin/echo last",
      ],
      environment: TracedRun.minimalEnvironment + [
        "MEMTRACE_OUTPUT=\(folder.path.appending("root.mtrace"))"
      ], directory: folder.path)

    #expect(run.outputText == "before\nafter\nlast\n")
    #expect(run.errorText.isEmpty)
    let traces = try folder.entries.map { try Trace(path: folder.path.appending($0)) }
    let notes = traces.flatMap(\.coverage.childrenNotFollowed)
    #expect(notes.contains { $0.hasPrefix("/bin/echo: libmemtrace.so cannot be read") })
  }

  /// As for another user (`sudo -u nobody`): only the program that executes it can tell of it.
  @Test func aProgramThatCannotWriteTracesIsNoted() throws {
    let folder = try ScratchDirectory()
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", "mkdir traces; LD_PRELOAD=$0 exec /bin/sh -c \"$1\"",
        BuiltProducts.library.string, "/bin/mv traces moved; /bin/echo one; exec /bin/echo last",
      ],
      environment: TracedRun.minimalEnvironment + [
        "MEMTRACE_OUTPUT=\(folder.path.appending("traces/root.mtrace"))"
      ], directory: folder.path)

    #expect(run.outputText == "one\nlast\n")
    #expect(run.errorText.isEmpty)
    let moved = folder.path.appending("moved")
    let traces = try FileManager.default.contentsOfDirectory(atPath: moved.string).map {
      try Trace(path: moved.appending($0))
    }
    let notes = traces.flatMap(\.coverage.childrenNotFollowed)
    #expect(notes.contains { $0.hasPrefix("/bin/echo: traces cannot be written into") })
  }

  /// Not even the beginning of a trace fits in such a file.
  @Test(arguments: ["exec ", ""])
  func aProgramThatCannotWriteFilesIsNoted(how: String) throws {
    let program = try TestProgram("table.c")
    let run = try TracedRun(["/bin/sh", "-c", "ulimit -f 1; \(how)\(program.path); exit $?"])
    #expect(try run.traces(of: program).isEmpty)
    #expect(
      try run.root().coverage.childrenNotFollowed == [
        "\(program.path): traces cannot be written where files may have next to no bytes (ulimit -f)"
      ])
  }

  /// For a moment its soft limit is raised.
  ///
  /// Of 64 descriptors the parent leaves its host all.
  @Test(arguments: ["256", "64"])
  func aForkIsRecordedWhereNoDescriptorIsLeft(limit: String) throws {
    let run = try TracedRun([try TestProgram("no_descriptor.c").path.string, "fork", limit])
    let traces = try run.allTraces()

    #expect(run.recorded.outputText == "300\nToo many open files\n400\n")
    try #require(
      traces.map(\.ending) == [.exit(0), .underscoreExit(3), .underscoreExit(4)])
    #expect(traces.map(\.coverage.childrenNotFollowedCount) == [0, 0, 0])
    for child in traces.dropFirst() {
      #expect(try MarkedEvents(child)[48013] == .init(allocated: 50000, freed: 50000))
    }
  }

  /// Its trace is begun as soon as it is there, before it can close anything.
  @Test(arguments: ["256", "2048"])
  func aForkThatMayHaveNoDescriptorForItsTraceIsNoted(limit: String) throws {
    let program = try TestProgram("no_descriptor.c").path.string
    let run = try TracedRun([program, "fork", limit, "hard"])
    let traces = try run.allTraces()

    #expect(run.recorded.outputText == "300\nToo many open files\n400\n")
    try #require(traces.map(\.ending) == [.exit(0), .underscoreExit(3)])
    #expect(traces.map(\.coverage.childrenNotFollowedCount) == [1, 0])
    #expect(try MarkedEvents(traces[1])[48013] == .init(allocated: 50000, freed: 50000))
    #expect(
      traces.first?.coverage.childrenNotFollowed == [
        "\(program): its forks cannot write traces any more "
          + "(another user, chroot, mount namespace, Landlock, ulimit -f, ulimit -n)"
      ])
  }

  @Test func whatValgrindRunsIsLeftAlone() throws {
    let program = try TestProgram("table.c")
    let run = try TracedRun(
      ["/usr/bin/env", "VALGRIND_LAUNCHER=/usr/bin/valgrind.bin", program.path.string])
    #expect(try run.traces(of: program).isEmpty)
    #expect(try run.root().coverage.childrenNotFollowed.first?.contains("Valgrind") == true)
  }

  /// Its traces are named by the inner recording, and are not the outer one's.
  @Test func memtraceRecordsItself() throws {
    let program = try TestProgram("table.c")
    let run = try TracedRun(
      [
        BuiltProducts.memtrace.string, "record", "-q", "--force", "-o", "inner.mtrace", "--",
        program.path.string,
      ])

    let inner = try Trace(path: run.directory.path.appending("inner.mtrace"))
    #expect(try MarkedEvents(inner)[1000] == .init(allocated: 5, freed: 4))
    let outer = try run.root()
    #expect(outer.ending == .exit(0))
    #expect(outer.header.sessionID != inner.header.sessionID)
    #expect(outer.coverage.childrenNotFollowedCount == 1)
  }
}
