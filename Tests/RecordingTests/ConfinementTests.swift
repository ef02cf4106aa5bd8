import Testing
import TraceReader
import TraceTestSupport

/// Forked children that give up their rights before their first event: that would begin their
/// trace too late.
@Suite struct ConfinementTests {
  static let functions = [
    "setuid", "setgid", "seteuid", "setegid", "setreuid", "setregid", "setresuid", "setresgid",
    "setgroups", "capset", "chroot", "pivot_root", "unshare", "setns",
  ]
  static let numbers =
    functions.filter { $0 != "seteuid" && $0 != "setegid" } + ["landlock"]

  @Test(arguments: functions.map { ["function", $0] } + numbers.map { ["number", $0] })
  func aCallThatConfinesBeginsTheTrace(call: [String]) throws {
    let run = try TracedRun([try TestProgram("confined_forks.c").path.string] + call)
    let traces = try run.allTraces()
    try #require(traces.count == 2)

    #expect(traces[1].header.parentTraceID == traces[0].header.traceID)
    #expect(traces[1].header.flags.contains(.forked))
    #expect(try MarkedEvents(traces[0])[44002] == .init(allocated: 1, freed: 1))
  }

  @Test(arguments: ["function", "number"])
  func anyOtherCallDoesNot(way: String) throws {
    let run = try TracedRun([try TestProgram("confined_forks.c").path.string, way, "getpid"])
    #expect(run.traces.count == 1)
  }

  /// Its memory is its parent's, whose trace goes on.
  @Test(arguments: functions)
  func aVforkChildHasNoTrace(function: String) throws {
    let run = try TracedRun([try TestProgram("confined_forks.c").path.string, "vfork", function])
    #expect(run.traces.count == 1)
    #expect(try MarkedEvents(run.root())[44001] == .init(allocated: 1, freed: 1))
    #expect(try MarkedEvents(run.root())[44002] == .init(allocated: 1, freed: 1))
  }

  @Test(
    .enabled(if: HostTests.isRoot, "only root may change its root directory or its user"),
    arguments: ["root", "user"])
  func whatGaveUpItsRightsIsRecorded(what: String) throws {
    let cell = try ScratchDirectory()
    let run = try TracedRun(
      [try TestProgram("dropped_rights.c").path.string, what, cell.path.string])
    let child = try #require(try run.allTraces().last)

    #expect(run.traces.count == 2)
    #expect(try MarkedEvents(child)[45001] == .init(allocated: 100, freed: 100))
    #expect(child.ending == .underscoreExit(8))
  }

  /// The user who makes files is the effective one, which `access` does not tell.
  @Test(
    .enabled(if: HostTests.isRoot, "only root may become another user"),
    arguments: [("user", "700"), ("user", "777"), ("group", "700")])
  func aForkOfAnotherEffectiveUserIsRecordedOrNoted(who: String, mode: String) throws {
    let program = try TestProgram("lent_rights.c").path.string
    let run = try TracedRun([program, who], shell: "chmod \(mode) .")
    let traces = try run.allTraces().filter { $0.process.executablePath == program }
    let isRecorded = run.plain.outputText == "may\n"

    if mode == "700" { try #require(isRecorded == (who == "group")) }
    #expect(traces.map(\.ending) == (isRecorded ? [.exit(0), .underscoreExit(8)] : [.exit(0)]))
    #expect(traces.first?.coverage.childrenNotFollowedCount == (isRecorded ? 0 : 1))
    #expect(
      traces.first?.coverage.childrenNotFollowed
        == (isRecorded
          ? []
          : [
            "\(program): its forks cannot write traces any more "
              + "(another user, chroot, mount namespace, Landlock, ulimit -f, ulimit -n)"
          ]))
  }

  /// Programs read the clock without a system call, so that their filters need not allow it.
  @Test func aProcessThatMayNotReadTheClockForks() throws {
    let run = try TracedRun([try TestProgram("no_clock.c").path.string])
    #expect(run.recorded.status == 0)
    #expect(run.recorded.outputText == "status 3\n")
  }

  /// A filter that kills would do so for the beginning of its trace.
  @Test(arguments: ["filter", "filter-by-number"])
  func aSandboxedForkRunsOn(what: String) throws {
    let run = try TracedRun([try TestProgram("dropped_rights.c").path.string, what, "/"])
    let child = try #require(try run.allTraces().last)

    #expect(run.plain.outputText == "800\n")
    #expect(run.traces.count == 2)
    #expect(child.coverage.stop?.cause == .sandbox)
  }

  /// What is allowed, is no gap.
  @Test(arguments: ["/", "/proc"])
  func whatMayNotWriteTracesInItsSandboxIsNoted(writable: String) throws {
    let program = try TestProgram("landlocked.c").path.string
    let run = try TracedRun([program, writable])
    guard run.plain.outputText != "no Landlock\n" else { return }
    let traces = try run.allTraces()
    let root = try #require(traces.first)

    #expect(run.recorded.outputText == "echoed\n")
    #expect(try MarkedEvents(root)[48103] == .init(allocated: 1, freed: 1))
    #expect(traces.count == (writable == "/" ? 3 : 1))
    #expect(
      root.coverage.childrenNotFollowed
        == (writable == "/"
          ? []
          : [
            "\(program): its forks cannot write traces any more "
              + "(another user, chroot, mount namespace, Landlock, ulimit -f, ulimit -n)",
            "/bin/echo: traces cannot be written into their folder in its sandbox (Landlock)",
          ]))
  }

  /// The program tells its `errno` first: what the recorder does without is nobody else's error.
  @Test(arguments: [
    ("refuse", "mincore"), ("refuse", "pipe2"), ("refuse", "madvise"), ("refuse", "getpid"),
    ("refuse", "rt_sigprocmask"), ("refuse", "exit_group"), ("kill", "mincore"),
  ])
  func aRefusedCallChangesNothing(how: String, call: String) throws {
    // Static, so that the recorder is not in there: it would stop before the filter.
    let filter = try TestProgram("refuses_call.c", flags: ["-static"]).path.string
    let program = try TestProgram("forks_and_executes.c").path.string
    let reasons = [
      "madvise": "Linux 4.14 or later is needed",
      "getpid": "a sandbox refuses getpid or rt_sigprocmask",
      "rt_sigprocmask": "a sandbox refuses getpid or rt_sigprocmask",
    ]
    let run = try TracedRun(
      [filter, how, call, program], start: .preload(["MEMTRACE_OUTPUT=%p.mtrace"]),
      comparesErrors: reasons[call] == nil)

    #expect(run.plain.outputText == "no error\nchild: no error\nexecuted: no error\n")
    if let reason = reasons[call] {
      #expect(run.traces.isEmpty)
      let speaker = call == "getpid" ? "memtrace" : "memtrace[\(run.recorded.pid)]"
      #expect(
        run.recorded.errorText
          == "\(speaker): cannot record: \(reason); the program runs on unrecorded\n")
    } else {
      #expect(try run.allTraces().map(MarkedEvents.init).allSatisfy { $0[48201].allocated == 1 })
      #expect(run.traces.count == 3)
    }
  }
}
