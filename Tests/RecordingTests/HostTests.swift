import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// Hosts that live under limits, close descriptors or move away: they run on unharmed.
@Suite struct HostTests {
  static let isRoot = getuid() == 0

  @Test(arguments: ["none", "closefrom", "close_range", "close"])
  func aClosedDescriptorIsNotReused(way: String) throws {
    let run = try TracedRun(
      [try TestProgram("descriptors.c").path.string, way], comparesErrors: false)
    let root = try run.root()
    let figures = try MarkedEvents(root)[23002]

    #expect(figures.allocated > 0)
    // All of it, or a stop that says why.
    #expect(figures == .init(allocated: 100_000, freed: 100_000) || root.coverage.stop != nil)
  }

  @Test func aBlockWhoseBeginningIsProtectedIsFreed() throws {
    let run = try TracedRun([try TestProgram("protected_block.c").path.string])
    #expect(run.recorded.outputText == "done\n")
    #expect(try run.root().coverage.stop == nil)
  }

  @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
  func closedStandardStreamsStayClosed(redirection: String) throws {
    let program = try TestProgram("environment.c")
    let run = try TracedRun(
      ["/bin/sh", "-c", "\"$0\" \(redirection)", program.path.string], comparesErrors: false)
    #expect(try run.traces(of: program).count == 1)
  }

  @Test func theEnvironmentAndDescriptorsAreAsBefore() throws {
    let program = try TestProgram("environment.c")
    let run = try TracedRun([program.path.string], environment: ["ODD=a=b", "EMPTY="])
    #expect(run.recorded.outputText.contains("descriptor 2\n"))
  }

  /// A program that reads what it never wrote does as without the recorder.
  @Test func theHeapIsAsBefore() throws {
    let run = try TracedRun([try TestProgram("fresh_heap.c").path.string])
    #expect(run.recorded.outputText.contains("1016 bytes at "))
  }

  @Test(arguments: ["", "trap '' INT HUP CHLD PIPE"])
  func signalStateIsInherited(setup: String) throws {
    // The shell changes the state, then starts memtrace in place of itself.
    let program = try TestProgram("signal_state.c")
    let directory = try ScratchDirectory()
    let record = [BuiltProducts.memtrace.string, "record", "-q", "-o", "t.mtrace", "--"]
    let runs = try [[], record].map { prefix in
      try ProcessRun.run(
        ["/bin/sh", "-c", "\(setup)\nexec \"$@\"", "sh"] + prefix + [program.path.string],
        environment: TracedRun.minimalEnvironment, directory: directory.path)
    }
    #expect(runs[0].outputText == runs[1].outputText)
    #expect(runs[1].status == 0)
  }

  @Test(arguments: [0, 1, 8, 100, 10_000])
  func aFileSizeLimitStopsTheRecordingOnly(blocks: Int) throws {
    let program = try TestProgram("busy.c")
    let run = try TracedRun(
      [program.path.string, "300000"], shell: "ulimit -f \(blocks)", comparesErrors: false)

    for trace in try run.traces(of: program) where try MarkedEvents(trace)[30001].allocated == 0 {
      #expect(trace.coverage.stop != nil)
      #expect(trace.coverage.eventsDropped > 0)
      // Nor was there a try to store a stack of an event that had no place.
      #expect(trace.coverage.stackTableFull < 150_000)
    }
  }

  /// Not the one that it would have with the room it asked for last.
  @Test func theSizeOfAStoppedRecordingIsThatOfItsFile() throws {
    let directory = try ScratchDirectory()
    let record = "record -o t.mtrace --no-exit-snapshot -- \"$0\" 300000"
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", "ulimit -f 100; exec '\(BuiltProducts.memtrace)' \(record)",
        try TestProgram("busy.c").path.string,
      ], environment: TracedRun.minimalEnvironment, directory: directory.path)
    let size = try Trace(path: directory.path.appending("t.mtrace")).fileSize
    #expect(size > 4096)
    #expect(run.errorText.contains("recorded in t.mtrace (\(size >> 10).00 KiB)"))
    #expect(run.errorText.contains("recording stopped early"))
  }

  @Test(arguments: [20_000, 60_000, 200_000, 2_000_000])
  func anAddressSpaceLimitStopsTheRecordingOnly(kibibytes: Int) throws {
    _ = try TracedRun(
      [try TestProgram("busy.c").path.string, "300000"], shell: "ulimit -v \(kibibytes)",
      comparesErrors: false)
  }

  /// Addresses that were put aside for guarded blocks are given back.
  @Test(arguments: [[], ["--guard"], ["--guard", "--zombies", "--redzones"]])
  func anAddressLimitOfTheProgramLeavesItItsMemory(options: [String]) throws {
    let run = try TracedRun(
      [try TestProgram("address_limit.c").path.string], start: .launcher(options))
    #expect(run.plain.outputText == "0: 100 here, 100 there, pages: 1, before: 2\n")
    #expect(try MarkedEvents(try run.root())[48001] == .init(allocated: 201, freed: 201))
  }

  /// The recorder's own memory is no data of the program's.
  @Test(arguments: [14, 32])
  func aDataLimitOfTheProgramLeavesItItsMemory(mebibytes: Int) throws {
    let program = try TestProgram("data_limit.c")
    let run = try TracedRun([program.path.string], shell: "ulimit -d \(mebibytes << 10)")
    #expect(run.plain.outputText == "64 blocks, thread: 0\n")
    let trace = try #require(try run.traces(of: program).first)
    #expect(try MarkedEvents(trace)[44001] == .init(allocated: 64, freed: 64))
    #expect(try MarkedEvents(trace)[44002] == .init(allocated: 1000, freed: 1000))
    #expect(trace.coverage.stop == nil)
  }

  /// Nor is it what the program may lock, nor are addresses that were put aside for guarded blocks.
  @Test(
    arguments: [("6000", "1"), ("3000", "2"), ("6000", "3"), ("3000", "6"), ("6000", "7")],
    [[], ["--guard"]])
  func aProgramMayLockAllOfItsMemory(limits: (String, String), options: [String]) throws {
    let (kibibytes, flags) = limits
    let run = try TracedRun(
      [try TestProgram("locked.c").path.string, kibibytes, flags], start: .launcher(options))
    let locksPresent = flags != "2" && flags != "6"
    #expect(
      run.plain.outputText
        == "0 0, locked: \(locksPresent ? 1 : 0)\n50 here, 50 there, pages: 1\n")
    #expect(try MarkedEvents(try run.root())[46001] == .init(allocated: 100, freed: 100))
  }

  /// Loading the recorder would not leave the program enough to begin with.
  @Test func whatIsExecutedUnderASmallDataLimitIsNotRecorded() throws {
    let program = try TestProgram("data_limit.c")
    let run = try TracedRun([program.path.string], shell: "ulimit -s 256; ulimit -d 5000")
    #expect(run.plain.outputText == "64 blocks, thread: 0\n")
    #expect(try run.traces(of: program).isEmpty)
    #expect(
      try run.root().coverage.childrenNotFollowed
        == ["\(program.path): its data is limited too much (ulimit -d)"])
  }

  @Test(arguments: [3, 4, 8])
  func aDescriptorLimitHarmsNobody(limit: Int) throws {
    // The shell needs a few descriptors before it sets the limit for the program.
    _ = try TracedRun(
      [try TestProgram("busy.c").path.string, "1000"], shell: "ulimit -n \(limit)",
      comparesErrors: false)
  }

  /// All descriptors that its limit allows are the host's where there are few, with and without a right
  /// to more of them.
  @Test(arguments: ["-Sn 4", "-Sn 100", "-n 4", "-n 20"])
  func noDescriptorIsMissing(limit: String) throws {
    let program = try TestProgram("all_descriptors.c")
    let run = try TracedRun(
      ["/bin/sh", "-c", "ulimit \(limit); exec \"$0\"", program.path.string])
    let trace = try #require(try run.traces(of: program).first)
    let events = try MarkedEvents(trace)
    #expect(events[23002] == .init(allocated: 100_000, freed: 100_000))
    #expect(events[23003] == .init(allocated: 100_000, freed: 100_000))
    #expect(trace.coverage.stop == nil)
  }

  /// Each fork copies a table up to the highest one.
  @Test func theDescriptorOfTheTraceIsNeverFarUp() throws {
    let directory = try ScratchDirectory()
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c",
        "ulimit -Sn $(ulimit -Hn); exec \"$0\" record -q -o x.mtrace -- /bin/ls /proc/self/fd",
        BuiltProducts.memtrace.string,
      ], environment: TracedRun.minimalEnvironment, directory: directory.path)
    let numbers = run.outputText.split(separator: "\n").compactMap { Int($0) }
    #expect(numbers.contains { (64..<4096).contains($0) })
    #expect(!numbers.contains { $0 >= 4096 })
  }

  /// As Foundation's `Process` starts programs: most systems allow 1024 descriptors, and more on demand.
  @Test(arguments: ["-Sn 1024", "-n 1024", "-Sn 100"])
  func aHostMayCloseAllDescriptorsOfAChild(limit: String) throws {
    let program = try TestProgram("spawn_closing.c")
    let run = try TracedRun(
      ["/bin/sh", "-c", "ulimit \(limit); exec \"$0\"", program.path.string])
    #expect(run.recorded.outputText == "started\nstatus 0\n")
  }

  @Test(.enabled(if: isRoot, "a small file system is mounted by root only"))
  func aFullDiskStopsTheRecordingOnly() throws {
    try SmallDisk.with(size: "300k") { disk in
      let output = disk.appending("full.mtrace")
      let run = try TracedRun(
        [try TestProgram("busy.c").path.string, "3000000"],
        start: .preload(["MEMTRACE_OUTPUT=\(output)", "MEMTRACE_KEEP_FREE=0"]),
        comparesErrors: false)
      #expect(run.recorded.errorText.split(separator: "\n").count <= 1)
      let trace = try Trace(path: output)
      #expect(trace.coverage.stop?.cause == .diskFull)
      #expect(trace.coverage.eventsDropped > 0)
      #expect(try MarkedEvents(trace).count > 1000)
    }
  }

  /// The program's own files must not fail because it is recorded.
  @Test(.enabled(if: isRoot, "a small file system is mounted by root only"))
  func aDiskKeepsRoomForTheProgram() throws {
    try SmallDisk.with(size: "4m") { disk in
      let output = disk.appending("full.mtrace")
      _ = try TracedRun(
        [try TestProgram("busy.c").path.string, "3000000"],
        start: .preload(["MEMTRACE_OUTPUT=\(output)"]), comparesErrors: false)
      var status = statvfs()
      #expect(disk.withPlatformString { statvfs($0, &status) } == 0)
      #expect(status.f_bavail * status.f_frsize >= (4 << 20) / 16)
      let trace = try Trace(path: output)
      #expect(trace.coverage.stop?.cause == .keepFree)
      #expect(trace.coverage.eventsDropped > 0)
      #expect(try MarkedEvents(trace).count > 1000)
    }
  }

  @Test func aTraceGrowsNoLargerThanItMay() throws {
    let program = try TestProgram("busy.c")
    let run = try TracedRun(
      [program.path.string, "3000000"], start: .launcher(["--max-size", "1MiB"]),
      comparesErrors: false)
    let trace = try run.root()
    var status = stat()
    #expect(stat(trace.path.string, &status) == 0)
    #expect(status.st_size > 500_000 && status.st_size <= 1 << 20)
    #expect(trace.coverage.stop?.cause == .maxSize)
    #expect(trace.coverage.eventsDropped > 0)
  }

  @Test func aSnapshotThatIsTooLargeSaysSo() throws {
    let run = try TracedRun(
      [try TestProgram("pointer_table.c").path.string],
      start: .launcher(["--max-size", "256KiB"]), comparesErrors: false)
    let trace = try run.root()
    #expect(trace.snapshots.map(\.isComplete) == [false])
    let notes = trace.notes.filter { $0.kind == .noSnapshot }
    #expect(notes.map(\.text) == ["the trace is as large as it may be (--max-size)"])
    #expect(notes.map(\.value) == [UInt64(EOVERFLOW)])
    #expect(trace.coverage.stop == nil)
    #expect(try MarkedEvents(trace)[800_000] == .init(allocated: 1, freed: 0))
  }

  /// What is left of an image that did not fit is no part of what is recorded after it.
  @Test(.enabled(if: isRoot, "a small file system is mounted by root only"))
  func aSnapshotThatDoesNotFitHarmsNoEvents() throws {
    try SmallDisk.with(size: "1020k") { disk in
      let output = disk.appending("full.mtrace")
      _ = try TracedRun(
        [try TestProgram("full_disk.c").path.string],
        start: .preload(["MEMTRACE_OUTPUT=\(output)"]))
      let trace = try Trace(path: output)
      #expect(trace.snapshots.contains { !$0.isComplete })
      #expect(trace.coverage.damage.isEmpty)
      #expect(trace.coverage.stop == nil)
      #expect(try MarkedEvents(trace)[40001] == .init(allocated: 80, freed: 80))
    }
  }

  @Test(
    .enabled(if: isRoot, "only root may change its root directory or its user"),
    arguments: ["chroot", "user"], [[], ["closed"]])
  func confinedProcessesRunOn(way: String, descriptors: [String]) throws {
    let cell = try ScratchDirectory()
    let program = try TestProgram("confined.c").path.string
    let run = try TracedRun([program, way, cell.path.string] + descriptors, comparesErrors: false)
    let root = try run.root()

    #expect(root.coverage.stop == nil)
    // Without /proc there is none.
    #expect(root.snapshots.map(\.isComplete) == (way == "user" ? [true] : []))
    #expect(try MarkedEvents(root)[24002] == .init(allocated: 100_000, freed: 100_000))
    #expect(try MarkedEvents(root)[24004] == .init(allocated: 1, freed: 1))
    #expect(root.coverage.childrenNotFollowedCount == 1)
    #expect(root.coverage.childrenNotFollowed.map { $0.hasPrefix("\(program): ") } == [true])
  }

  @Test func aRelativeOutputStaysWhereTheProcessStarted() throws {
    let elsewhere = try ScratchDirectory()
    let run = try TracedRun(
      [try TestProgram("confined.c").path.string, "chdir", elsewhere.path.string],
      start: .preload(["MEMTRACE_OUTPUT=relative.mtrace"]), comparesErrors: false)

    #expect(run.traces.count == 2)
    #expect(elsewhere.entries.isEmpty)
  }

  /// A filter that kills would do so for the recorder's own calls.
  @Test(arguments: [[], ["_exit"]])
  func aSandboxEndsTheRecordingAndNotTheProgram(way: [String]) throws {
    let run = try TracedRun([try TestProgram("sandbox.c").path.string] + way)
    #expect(run.plain.status == 7)

    let root = try run.root()
    #expect(root.coverage.stop?.cause == .sandbox)
    #expect(try MarkedEvents(root)[10001] == .init(allocated: 1000, freed: 1000))
  }

  @Test func childrenThatAreForkedInASandboxMakeNoCallsOfOurs() throws {
    let run = try TracedRun([try TestProgram("forks_in_sandbox.c").path.string])
    #expect(run.plain.status == 5)
    #expect(try run.root().coverage.stop?.cause == .sandbox)
  }

  /// There is no memory to be had, but what was freed; and nothing ends a handler for good.
  @Test(
    arguments: [("exit", Int32(7)), ("crash", 139)], ["", "--zombies", "--redzones", "--guard"])
  func aSandboxHasTheMemoryThatWasFreed(end: (way: String, status: Int32), option: String) throws {
    let program = try TestProgram("allocates_in_sandbox.c")
    let plain = try ProcessRun.run([program.path.string, end.way])
    let run = try HeapRun(program, [end.way], options: option.isEmpty ? [] : [option])
    let plainStatus = plain.status ?? 128 + (plain.signal ?? 0)
    #expect(plainStatus == end.status)
    #expect(run.result.status == end.status)
    #expect(try run.root().coverage.stop?.cause == .sandbox)
  }

  /// As the filters of firejail, flatpak and containers are: they forbid some calls, and none of ours.
  @Test(arguments: ["prctl", "seccomp"])
  func aSandboxThatSparesTheRecorderIsRecordedToTheEnd(way: String) throws {
    let run = try TracedRun([try TestProgram("sparing_sandbox.c").path.string, way])
    #expect(run.plain.status == 7)
    #expect(run.plain.outputText == "Operation not permitted\nchild\n0\n")

    let traces = try run.traces(of: TestProgram("sparing_sandbox.c"))
    #expect(traces.map(\.coverage.stop?.cause) == [nil, nil])
    #expect(
      try traces.map { try MarkedEvents($0)[10004] } == [
        .init(allocated: 100_000, freed: 100_000), .init(allocated: 1, freed: 1),
      ])
    #expect(traces[0].snapshots.count == 1)
  }

  /// Wine and sandboxes in the process itself have the kernel hand them the calls of some code.
  @Test func aProgramThatTakesCallsItselfSeesNoneOfOurs() throws {
    let run = try TracedRun([try TestProgram("dispatched_calls.c").path.string])
    #expect(run.plain.outputText == "0 calls\n")

    let root = try run.root()
    #expect(root.coverage.stop?.cause == .sandbox)
    #expect(try MarkedEvents(root)[10005] == .init(allocated: 1000, freed: 1000))
  }

  /// The C library executes some of them itself, past our hooks.
  @Test(arguments: ["kills", "refuses"])
  func commandsInASandboxRunUnrecorded(way: String) throws {
    let run = try TracedRun([try TestProgram("sandboxed_commands.c").path.string, way])
    #expect(run.recorded.outputText == "system\n0\npopen\n0\nexec\n")
    #expect(run.recorded.errorText == "")
    #expect(try run.allTraces().map(\.coverage.stop?.cause) == [.sandbox])
  }

  /// Whose trace could not be read would be missing in a check.
  @Test func aTraceCanBeReadByItsOwnerWhateverTheUmask() throws {
    let run = try TracedRun(["/bin/sh", "-c", "umask 0777; exec /bin/echo masked"])
    let modes = try run.allTraces().map { trace in
      var status = stat()
      #expect(stat(trace.path.string, &status) == 0)
      return status.st_mode & 0o777
    }
    #expect(modes.sorted() == [0o600, 0o644])
  }

  @Test func theSummaryNamesTheSandbox() throws {
    let folder = try ScratchDirectory()
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "--", try TestProgram("sandbox.c").path.string],
      environment: TracedRun.minimalEnvironment, directory: folder.path)
    #expect(
      run.errorText.contains(
        ".mtrace: recording stopped early: the program entered a sandbox (seccomp or the "
          + "like), where recording could get it killed\n"))
  }

  /// There an end cannot be written; nobody has killed it.
  @Test func theSummaryLooksForNoEndInASandbox() throws {
    let folder = try ScratchDirectory()
    let program = try TestProgram("sandbox.c").path
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "--", "/bin/sh", "-c", "\(program); exit 3"],
      environment: TracedRun.minimalEnvironment, directory: folder.path)
    #expect(run.status == 3)
    #expect(run.errorText.contains("recording stopped early"))
    #expect(!run.errorText.contains("wrote no end"))
  }

  @Test func theSummaryNamesProcessesThatDidNotEndByThemselves() throws {
    let folder = try ScratchDirectory()
    let aborts = try TestProgram("endings.c", flags: ["-pthread"]).path
    let freesTwice = try TestProgram("child_double_free.c").path
    let run = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "record", "--", "/bin/sh", "-c",
        "\(aborts) abort; \(freesTwice); exit 0",
      ], environment: TracedRun.minimalEnvironment, directory: folder.path)
    #expect(run.status == 0)
    let lines = run.errorText.split(separator: "\n").map(String.init)
    func name(behind text: String) -> String? {
      lines.first { $0.hasPrefix(text) }.map { String($0.dropFirst(text.count)) }
    }
    let aborted = try #require(name(behind: "memtrace: 1 of its processes was aborted or killed: "))
    #expect(aborted.hasPrefix("sh.\(aborts.lastComponent?.string ?? "")."))
    let killed = try #require(
      name(behind: "memtrace: 1 of its processes wrote no end, and runs still or was killed: "))
    #expect(killed.hasPrefix("sh.\(freesTwice.lastComponent?.string ?? "")."))
  }

  /// Every stamp would be a SIGSEGV.
  @Test(arguments: ["strict", "counter"], ["prctl", "syscall"])
  func aProgramWithoutTheCycleCounterRunsOn(what: String, way: String) throws {
    let run = try TracedRun([try TestProgram("no_counter.c").path.string, what, way])
    #expect(run.plain.status == 7)

    let root = try run.root()
    #expect(root.coverage.stop?.cause == .sandbox)
    #expect(try MarkedEvents(root)[10003] == .init(allocated: 1000, freed: 1000))
  }

  /// Firefox does, as it starts, and whatever uses libseccomp.
  @Test func askingWhetherThereAreSandboxesIsNone() throws {
    let run = try TracedRun([try TestProgram("asks_for_filters.c").path.string])
    #expect(run.plain.outputText.contains("filter -1 Bad address\n"))

    let root = try run.root()
    #expect(root.coverage.stop == nil)
    #expect(try MarkedEvents(root)[43002] == .init(allocated: 100, freed: 100))
  }

  /// Whatever its number means on other machines.
  @Test func anotherSystemCallIsNoSandbox() throws {
    let run = try TracedRun([try TestProgram("first_syscall.c").path.string])
    let root = try run.root()
    #expect(root.coverage.stop == nil)
    #expect(try MarkedEvents(root)[43001] == .init(allocated: 1, freed: 1))
  }
}
