import Foundation
import SystemPackage
import Testing
import TraceTestSupport

/// `memtrace check` on real programs: verdicts, statuses, baselines.
@Suite struct CheckTests {
  private let folder: ScratchDirectory

  init() throws {
    folder = try ScratchDirectory()
  }

  private func check(
    _ options: [String] = [], _ command: [String], environment: [String] = []
  ) throws -> ProcessRun {
    try ProcessRun.run(
      [BuiltProducts.memtrace.string, "check"] + options + ["--"] + command,
      environment: TracedRun.minimalEnvironment + environment, directory: folder.path)
  }

  /// The values of the last line.
  private func values(_ run: ProcessRun) -> [String: String] {
    let line = run.outputText.split(separator: "\n").last { $0.hasPrefix("memtrace-check: ") }
    let pairs = (line ?? "").split(separator: " ").dropFirst().map {
      $0.split(separator: "=", maxSplits: 1).map(String.init)
    }
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
  }

  private func program(_ flags: [String] = []) throws -> String {
    try TestProgram("gate.c", flags: flags).path.string
  }

  @Test func whoAsksAFunctionThatAllocatesForOthersIsNamed() throws {
    let program = try TestProgram("wrapped.c").path.string
    let run = try check([], [program, "leak"])
    #expect(run.status == 86)
    let leaks = run.outputText.split(separator: "\n").filter { $0.hasPrefix("Memory leak") }
    #expect(
      leaks == [
        "Memory leak: malloc in store, 1 block, 44.93 KiB, allocated in store (wrapped.c:23)",
        "Memory leak: malloc in load, 1 block, 44.93 KiB, allocated in load (wrapped.c:19)",
      ])
  }

  @Test(arguments: [
    ([], "close_second (freed_for_others.c:16)"), (["1"], "tool_free (freed_for_others.c:8)"),
  ])
  func whoGivesABlockToAFunctionThatFreesForOthersIsNamed(
    _ arguments: [String], _ place: String
  ) throws {
    let run = try check([], [try TestProgram("freed_for_others.c").path.string] + arguments)
    let function = place.prefix { $0 != " " }
    #expect(
      run.outputText.contains(
        "Double free: free in \(function), 1 call, 46.89 KiB, in \(place)\n"), "\(run.outputText)")
  }

  @Test func aChildThatTheCLibraryEndsIsTold() throws {
    let run = try check([], [try TestProgram("child_double_free.c").path.string])
    #expect(run.status == 86)
    #expect(
      run.outputText.contains(
        "did nothing after a double free, for which the C library ends a process: there is no heap snapshot"
      ),
      "\(run.outputText)")
  }

  @Test(arguments: [
    ("", Int32(0), "pass"), ("l", 86, "fail"), ("c", 86, "fail"), ("f", 3, "pass"),
    ("lf", 3, "fail"), ("k", 137, "unmeasured"), ("s", 86, "fail"), ("S", 87, "unmeasured"),
  ])
  func theStatusTellsWhatHappened(_ letters: String, _ status: Int32, _ verdict: String) throws {
    let run = try check([], [try program(), letters])
    #expect(run.status == status, "\(run.outputText)\(run.errorText)")
    #expect(values(run)["verdict"] == verdict)
    #expect(values(run)["exit"] == "\(status)")
  }

  @Test func slicesOfGLibAreWarnedOf() throws {
    let run = try check([], [try TestProgram("slices.c", flags: ["-O0"]).path.string])
    #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
    #expect(run.outputText.contains("): slices of GLib may hide leaks: what lies in one"))
    #expect(!(try check([], [try program()]).outputText.contains("GLib")))
  }

  @Test func whatAProgramHidesFromLeakSanitizerIsHidden() throws {
    let path = try TestProgram("suppressing.c").path
    let (program, name) = (path.string, path.lastComponent?.string ?? "")
    let run = try check([], [program])
    #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
    #expect(
      run.outputText.contains(
        ": leak:load_plugins (__lsan_default_suppressions of \(name):1): 1 finding, 448 B\n"))
    let whole = try check(["--no-program-suppressions"], [program])
    #expect(whole.status == 86)
    #expect(values(whole)["leaks"] == "1")
    #expect(values(try check([], [program, "more"]))["leaked_bytes"] == "77")
  }

  @Test func aLeakIsNamedWithItsTreeAndLine() throws {
    let run = try check([], [try program(), "lc"])
    let text = run.outputText
    #expect(text.contains("Memory leak: struct node, 3 blocks, 48 B"))
    #expect(text.contains("ROOT LEAK: <struct node 0x"))
    #expect(text.contains("Leaked cycle: struct node, 2 blocks, 32 B"))
    #expect(text.contains("gate.c:25"))
    let values = values(run)
    #expect((values["leaks"], values["cycles"], values["leaked_bytes"]) == ("3", "1", "80"))
  }

  @Test func theBaselineOfTheConfigurationFileIsWritten() throws {
    let program = try program()
    let none = try check(["--update-baseline"], [program, "l"])
    #expect(none.status == 64)
    #expect(
      none.errorText == "memtrace: --update-baseline needs --baseline FILE, or 'baseline:' in the "
        + "configuration\n")
    try "version: 1\nbaseline: b.yml\n".write(
      toFile: folder.path.appending(".memtrace.yml").string, atomically: true, encoding: .utf8)
    #expect(try check(["--update-baseline"], [program, "l"]).status == 0)
    let known = try check([], [program, "l"])
    #expect(known.status == 0, "\(known.outputText)")
    #expect(values(known)["baselined"] == "1")
  }

  @Test func theBaselineToleratesWhatItKnowsAndNoMore() throws {
    let program = try program()
    let write = try check(["--baseline", "b.yml", "--update-baseline"], [program, "l"])
    #expect(write.status == 0, "\(write.errorText)")
    #expect(try check(["--baseline", "b.yml"], [program, "l"]).status == 0)
    // An edit above the function, and another build.
    let edited = try self.program(["-DEDIT", "-O1"])
    let known = try check(["--baseline", "b.yml"], [edited, "l"])
    #expect(known.status == 0, "\(known.outputText)")
    #expect(values(known)["baselined"] == "1")
    let grown = try check(["--baseline", "b.yml"], [program, "L"])
    #expect(grown.status == 86)
    #expect(grown.outputText.contains("known, but grew from 3 to 5 (48 B to 80 B)"))
    #expect(try check(["--baseline", "b.yml"], [program, "lc"]).status == 86)
    let mended = try check(["--baseline", "b.yml", "--fail-on-stale"], [program])
    #expect(mended.status == 86)
    #expect(values(mended)["stale"] == "1")
  }

  /// A shell, which the rules do not apply to, has started a program that could not be recorded.
  @Test func aBaselineKeepsWhatAnUnmeasuredRunDidNotFind() throws {
    let program = try program()
    let file = folder.path.appending("b.yml").string
    let read = { try String(contentsOfFile: file, encoding: .utf8) }
    let write = ["--baseline", "b.yml", "--update-baseline"]
    #expect(try check(write, [program, "l"]).status == 0)
    let known = try read()
    let command = ["/bin/sh", "-c", "'\(try self.program(["-static"]))'; '\(program)'; exit 0"]
    for (options, status) in [(write, Int32(87)), (write + ["--allow-unmeasured"], 0)] {
      let run = try check(options, command)
      #expect(run.status == status, "\(run.outputText)\(run.errorText)")
      #expect(try read() == known)
      #expect(run.errorText.contains("no entry was removed: "))
    }
    let stale = try check(["--baseline", "b.yml", "--fail-on-stale"], command)
    #expect(stale.status == 87, "\(stale.outputText)")
    #expect(values(stale)["stale"] == "0")
  }

  @Test func rulesCanBeLooserStricterAndRelative() throws {
    let program = try program()
    #expect(try check(["--rule", "leaks<=3"], [program, "l"]).status == 0)
    #expect(try check(["--rule", "leaks<=47B"], [program, "l"]).status == 86)
    #expect(try check(["--rule", "leaks[function=leak_nodes]<=3"], [program, "l"]).status == 0)
    #expect(try check(["--rule", "allocations<=0"], [program, "l"]).status == 86)
    #expect(try check(["--rule", "peak<=1KiB"], [program, "l"]).status == 86)
    let noFigure = try check(["--rule", "peak<=+5%"], [program])
    #expect(noFigure.status == 87)
    #expect(noFigure.outputText.contains("the baseline has no figure for 'peak<=+5%'"))
  }

  @Test func fullNamesChangeWhatIsPrintedOnly() throws {
    let program = try TestProgram("template_leak.cpp").path.string
    let write = ["--baseline", "b.yml", "--update-baseline"]
    #expect(try check(write, [program]).status == 0)
    let file = folder.path.appending("b.yml").string
    let known = try String(contentsOfFile: file, encoding: .utf8)
    #expect(try check(write + ["--full-names"], [program]).status == 0)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == known)

    let scoped = ["--rule", "leaks[function=forget<int>*]<=1"]
    #expect(try check(scoped, [program]).status == 0)
    let full = try check(scoped + ["--full-names"], [program])
    #expect(full.status == 0)
    #expect(full.outputText.contains("in void forget<int>(std::vector<int, std::allocator<int> >"))
  }

  @Test func onlyChosenProcessesAreHeldToTheRules() throws {
    let command = ["/bin/sh", "-c", "'\(try program())' l; exit 0"]
    #expect(try check([], command).status == 86)
    let chosen = try check(["--process", "sh", "--process", "dash"], command)
    #expect(chosen.status == 0, "\(chosen.outputText)")
    #expect(chosen.outputText.contains(": not chosen"))
    let none = try check(["--process", "nothing"], command)
    #expect(none.status == 87)
    #expect(none.outputText.contains("no process was chosen among: "))
  }

  @Test func toolsAreListedAndCheckedOnlyWhereNothingElseRan() throws {
    let git = try check([], ["/bin/sh", "-c", "git --version; '\(try program())' l"])
    #expect(git.status == 86, "\(git.outputText)\(git.errorText)")
    #expect(
      git.outputText.contains(/git \(pid \d+\): not chosen: it builds or starts what is checked/))
    #expect(git.outputText.contains(/sh \(pid \d+\): not chosen: a utility of the system/))
    #expect(values(git)["processes"] == "1")
    let alone = try check(["--process", "*"], ["/bin/sh", "-c", "git --version; exit 0"])
    #expect(alone.outputText.contains(/git \(pid \d+\): \d+ leaked blocks/))
    let child = try check([], ["/bin/sh", "-c", "sort /dev/null; exit 0"])
    #expect(child.outputText.contains(/sort \(pid \d+\): not chosen: a utility of the system/))
    #expect(child.outputText.contains(/sh \(pid \d+\): \d+ leaked blocks/))
    #expect(values(child)["processes"] == "1")
    let only = try check([], ["/usr/bin/git", "--version"])
    #expect(only.outputText.contains(/git \(pid \d+\): \d+ leaked blocks/))
    #expect(values(only)["processes"] == "1")
  }

  @Test func whatCannotBeRecordedIsNotMeasured() throws {
    let run = try check([], [try program(["-static"])])
    #expect(run.status == 87)
    #expect(run.outputText.contains("it is statically linked"))
  }

  /// Only its parent knows of a program that could not be recorded.
  @Test(
    arguments: [
      ([], ["/usr/bin/make"]), (["--process", "gate-*"], ["/usr/bin/make"]),
      // Not the first program: it is skipped.
      ([], ["/bin/sh", "-c", "make; exit 0"]),
    ] as [([String], [String])])
  func whatAnUncheckedProgramStartsMustBeRecordedToo(
    _ options: [String], _ command: [String]
  ) throws {
    let makefile = "all:\n\t'\(try program())'\n\t'\(try program(["-static"]))'\n"
    try makefile.write(
      toFile: folder.path.appending("Makefile").string, atomically: true, encoding: .utf8)
    let run = try check(options, command)
    #expect(run.status == 87, "\(run.outputText)\(run.errorText)")
    #expect(run.outputText.contains("a child process was not recorded: "))
    #expect(values(run)["processes"] != "0")
    let others = try check(["--process", "make"], ["/usr/bin/make"])
    #expect(others.status == 0, "\(others.outputText)\(others.errorText)")
  }

  @Test func aTraceCutByTheFileLimitIsNotMeasured() throws {
    let command = ["/bin/bash", "-c", "ulimit -f 300; exec '\(try program())' m"]
    let run = try check(["--process", "gate-*"], command)
    #expect(run.status == 87, "\(run.outputText)\(run.errorText)")
    #expect(run.outputText.contains("recording stopped before the end: the file size limit was"))
  }

  @Test(.enabled(if: HostTests.isRoot, "a small file system is mounted by root only"))
  func aTraceCutByAFullDiskIsNotMeasured() throws {
    try SmallDisk.with(size: "400k") { disk in
      let run = try check([], [try program(), "m"], environment: ["TMPDIR=\(disk)"])
      #expect(run.status == 87, "\(run.outputText)\(run.errorText)")
      #expect(
        run.outputText.contains("recording stopped before the end: the disk had no more room"))
      // What the program says itself comes first all the same.
      #expect(try check([], [try program(), "mf"], environment: ["TMPDIR=\(disk)"]).status == 3)
    }
  }

  /// Nor is what a crash leaves behind a leak where there is one: `abort` takes one always.
  @Test(arguments: ["xk", "dk", "xla", "dla"])
  func whatATestWantsToSeeCrashNeedsNoSnapshot(_ letters: String) throws {
    let run = try check(["--snapshot-on-crash"], [try program(), letters])
    #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
    #expect(run.outputText.contains("leaks not looked for, 0 memory errors"))
    #expect((values(run)["processes"], values(run)["unmeasured"]) == ("2", "0"))
  }

  /// Where such a test was not to be killed, the harness fails.
  @Test(arguments: [
    ("gk", Int32(0)), ("ga", 0), ("ge", 86), ("ck", 0), ("ca", 0), ("ce", 86), ("ok", 87),
    ("oa", 86),
  ])
  func whatATestForksToSeeItCrashNeedsNoSnapshot(_ letters: String, _ status: Int32) throws {
    let program = try TestProgram("forked-tests.cpp", flags: ["-O1"]).path.string
    let run = try check([], [program, letters])
    #expect(run.status == status, "\(run.outputText)\(run.errorText)")
    guard status == 0 else { return }
    let harness = letters.hasPrefix("g") ? "GoogleTest" : "Check"
    #expect(
      run.outputText.contains("forked by a test of \(harness), killed, leaks not looked for, 0"))
  }

  @Test func whatWasKilledCanBeAllowed() throws {
    let program = try program()
    let run = try check([], [program, "S"])
    #expect(run.status == 87)
    #expect(run.outputText.contains(", --allow-killed passes it"))
    let allowed = try check(["--allow-killed"], [program, "S"])
    #expect(allowed.status == 0, "\(allowed.outputText)\(allowed.errorText)")
    #expect(allowed.outputText.contains("killed, leaks not looked for, 0 memory errors"))
    // It stays a matter of those that were killed: nothing else is let through.
    let refused = try check(
      ["--allow-killed"], [program], environment: ["MEMTRACE_SNAPSHOT_AT_EXIT=0"])
    #expect(refused.status == 87)
    try "version: 1\nkilled: allow\n".write(
      toFile: folder.path.appending(".memtrace.yml").string, atomically: true, encoding: .utf8)
    #expect(try check([], [program, "S"]).status == 0)
  }

  @Test func whatIsEndedByASignalCanBeMeasured() throws {
    let program = try program()
    let run = try check([], [program, "T"])
    #expect(run.status == 87)
    #expect(
      run.outputText.contains(
        "; --snapshot-on-crash takes one, unless that was SIGKILL, --allow-killed passes it"))
    let measured = try check(["--snapshot-on-crash"], [program, "T"])
    #expect(measured.status == 86, "\(measured.outputText)\(measured.errorText)")
    #expect((values(measured)["leaks"], values(measured)["unmeasured"]) == ("2", "0"))
  }

  /// A forked child has no trace before it does something that is recorded.
  @Test func whatOutlivesTheCommandIsNotMeasured() throws {
    // GIVEN a child that waits for a lock
    let program = try TestProgram("outliving.c").path.string
    let file = folder.path.appending("lock").string
    let lock = open(file, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(lock >= 0)
    defer { close(lock) }
    try #require(flock(lock, LOCK_EX) == 0)

    let run = try check([], [program, file])
    #expect(run.status == 87)
    #expect(run.outputText.contains("): still running, and has recorded nothing yet"))
    for options in [
      ["--allow-killed"], ["--process", "other"], ["--rule", "peak<=1GiB", "--no-default-rules"],
      ["--no-follow"],
    ] {
      let passed = try check(options, [program, file])
      #expect(!passed.outputText.contains("still running"), "\(options)")
    }
  }

  @Test func aRefusedSnapshotIsNotMeasured() throws {
    let run = try check([], [try program()], environment: ["MEMTRACE_SNAPSHOT_AT_EXIT=0"])
    #expect(run.status == 87)
    #expect(run.outputText.contains("no heap snapshot was taken at the end"))
    let allowed = try check(
      ["--allow-unmeasured"], [try program()], environment: ["MEMTRACE_SNAPSHOT_AT_EXIT=0"])
    #expect(allowed.status == 0)
  }

  @Test func theCanaryMustBeFound() throws {
    let program = try program()
    #expect(try check(["--canary"], [program, "s"]).status == 86)
    let found = try check(["--canary"], [program])
    #expect(found.status == 0, "\(found.outputText)")
    let hoard = try TestProgram("hoard.c", flags: ["-shared", "-fPIC"]).path.string
    let missed = try check(["--canary"], [program], environment: ["LD_PRELOAD=\(hoard)"])
    #expect(missed.status == 87, "\(missed.outputText)")
    #expect(missed.outputText.contains("the leak that --canary planted was not found"))
  }

  @Test func fiveHundredFindingsMakeTenAnnotations() throws {
    let program = try TestProgram("gate_many.c").path.string
    let run = try check(
      ["--output", "github", "--output", "text=all.txt", "--output", "summary=summary.md"],
      [program])
    #expect(run.status == 86)
    let lines = run.outputText.split(separator: "\n")
    #expect(lines.count == 10)
    #expect(lines.first?.contains("leak_599") == true)
    #expect(lines.last?.contains("491 more findings are in the job summary") == true)
    let text = try String(contentsOfFile: folder.path.appending("all.txt").string, encoding: .utf8)
    #expect(text.contains(" findings=500 leaks=500 leaked_bytes=174750 "))
    let summary = try String(
      contentsOfFile: folder.path.appending("summary.md").string, encoding: .utf8)
    #expect(summary.contains("… and 300 more findings."))
  }

  @Test func allOutputsComeFromOneRun() throws {
    let kinds = ["text", "json", "github", "summary", "sarif", "junit", "gitlab"]
    let options = kinds.flatMap { ["--output", "\($0)=out.\($0)"] }
    let run = try check(
      options + ["--source-root", TestProgram.sources.string],
      [
        try program(), "lc",
      ])
    #expect(run.status == 86, "\(run.errorText)")
    #expect(run.outputText == "")
    let files = try kinds.map { kind in
      try String(contentsOfFile: folder.path.appending("out.\(kind)").string, encoding: .utf8)
    }
    for file in files { #expect(file.contains("leak_nodes")) }
    for file in [files[1], files[4], files[6]] {
      _ = try JSONSerialization.jsonObject(with: Data(file.utf8))
    }
    #expect(files[2].split(separator: "\n").count == 2)
    #expect(files[2].hasPrefix("::error file=gate.c,line=25,"))
    #expect(files[5].contains("<testsuites tests=\"2\" failures=\"2\""))
    let summary = folder.path.appending("summary.md").string
    for _ in 0..<2 {
      _ = try check(
        ["--output", "summary"], [try program()], environment: ["GITHUB_STEP_SUMMARY=\(summary)"])
    }
    let grown = try String(contentsOfFile: summary, encoding: .utf8)
    #expect(grown.split(separator: "\n").count { $0 == "## memtrace: passed" } == 2)
  }

  /// Logs with everything in them: leaks, cycles, misuses with other stacks, what is known, what
  /// could not be measured.
  @Test func logsFitThePublishedSchemaOfSARIF() throws {
    let program = try program()
    _ = try check(["--baseline", "b.yml", "--update-baseline"], [program, "l"])
    let mismatched = try TestProgram("mismatched.cpp").path.string
    try "leak:leak_cycle\n".write(
      toFile: folder.path.appending("lsan.supp").string, atomically: true, encoding: .utf8)
    let runs: [([String], [String])] = [
      ([], [program]), ([], [program, "lc"]), (["--baseline", "b.yml"], [program, "Lc"]),
      (["--suppressions", "lsan.supp"], [program, "c"]), ([], [mismatched]), ([], [program, "k"]),
      (["--rule", "peak<=1B"], [program]), ([], [try self.program(["-static"])]),
    ]
    var logs: [String] = []
    for (index, (options, command)) in runs.enumerated() {
      let log = folder.path.appending("\(index).sarif").string
      let root = index == 1 ? ["--source-root", TestProgram.sources.string] : []
      _ = try check(options + root + ["--output", "sarif=\(log)"], command)
      logs.append(log)
    }
    let script = TestProgram.sources.removingLastComponent().removingLastComponent()
      .removingLastComponent().appending("scripts/check-sarif").string
    let valid = try ProcessRun.run(["/bin/bash", script] + logs, timeout: 300)
    #expect(valid.status == 0, "\(valid.outputText)\(valid.errorText)")
    // A validator that finds everything valid would prove nothing.
    let text = try String(contentsOfFile: logs[1], encoding: .utf8)
    try text.replacing("\"ruleId\"", with: "\"rule\"").write(
      toFile: logs[0], atomically: true, encoding: .utf8)
    #expect(try ProcessRun.run(["/bin/bash", script, logs[0]], timeout: 60).status == 1)
  }

  @Test func tracesCanBeKeptAndCheckedLater() throws {
    let run = try check(["--keep", "traces"], [try program(), "s"])
    #expect(run.status == 86)
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.path.appending("traces").string)
    #expect(names.count == 2)
    let later = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "check"] + names.map { "traces/\($0)" },
      environment: TracedRun.minimalEnvironment, directory: folder.path)
    #expect(later.status == 86)
    #expect(values(later)["processes"] == "2")
    let missing = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "check", "none.mtrace"],
      environment: TracedRun.minimalEnvironment, directory: folder.path)
    #expect(missing.status == 87)
  }
}
