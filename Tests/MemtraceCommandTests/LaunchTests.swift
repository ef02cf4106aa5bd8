import SystemPackage
import Testing
import TraceTestSupport

/// The launched command behaves as it does without memtrace.
@Suite struct LaunchTests {
  private let directory: ScratchDirectory

  init() throws {
    directory = try ScratchDirectory()
  }

  private func record(_ script: String) throws -> ProcessRun {
    try memtrace("record", "-q", "--", "sh", "-c", script, in: directory.path)
  }

  @Test(arguments: [0, 1, 42, 255])
  func theExitStatusIsPassedOn(status: Int32) throws {
    #expect(try record("exit \(status)").status == status)
  }

  @Test(arguments: [1, 2, 9, 11, 13, 15])
  func aDeadlySignalIsPassedOnAsShellsDo(signal: Int32) throws {
    #expect(try record("kill -\(signal) $$").status == 128 + signal)
  }

  @Test func inputAndOutputAreThoseOfTheCommand() throws {
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "-q", "--", "cat"],
      directory: directory.path, input: "passed through\n")
    #expect(run.outputText == "passed through\n")
    #expect(run.errorText.isEmpty)
  }

  /// A pipe that nobody reads any more ends the report by a signal, as `head` does.
  @Test func whatIsRecordedForOneReportGoesWithIt() throws {
    let script = """
      mkdir folder; mkfifo pipe; exec 3<>pipe 4>pipe 3<&-
      TMPDIR=$PWD/folder "$0" dump -- true >&4; echo $?; ls folder
      """
    let run = try ProcessRun.run(
      ["/bin/sh", "-c", script, BuiltProducts.memtrace.string], directory: directory.path)
    #expect(run.outputText == "\(128 + 13)\n")
  }

  /// While it is made: the report waits for a reader.
  @Test(arguments: ["HUP", "INT", "TERM"])
  func aReportThatASignalEndsLeavesNothing(signal: String) throws {
    let script = """
      import os, signal, subprocess, sys
      signal.signal(signal.SIG\(signal), signal.SIG_DFL)
      os.mkdir("folder")
      os.environ["TMPDIR"] = os.path.abspath("folder")
      command = [sys.argv[1], "dump", "--", "perl", "-e", "@a = (1 .. 10000)"]
      process = subprocess.Popen(command, stdout=subprocess.PIPE)
      process.stdout.read(1)
      process.send_signal(signal.SIG\(signal))
      print(process.wait(), os.listdir("folder"))
      """
    let run = try ProcessRun.run(
      ["/usr/bin/python3", "-c", script, BuiltProducts.memtrace.string], directory: directory.path)
    let number = ["HUP": 1, "INT": 2, "TERM": 15][signal]
    #expect(run.outputText == "\(-(number ?? 0)) []\n")
  }

  @Test(arguments: ["TERM", "HUP", "USR1", "INT"])
  func aSignalForTheLauncherReachesTheCommand(signal: String) throws {
    let script = "trap 'exit 33' \(signal); echo ready; while :; do :; done"
    #expect(try statusOfRecord(startedBy: Self.parent(sending: signal), script: script) == 33)
  }

  /// Also those that end a process which does not expect them.
  @Test(arguments: [
    "WINCH", "URG", "ALRM", "PROF", "IO", "PIPE", "RTMIN", "RTMAX", "ABRT", "SEGV", "TRAP", "XCPU",
    "SYS",
  ])
  func signalsForServersReachTheCommand(signal: String) throws {
    let program = "$SIG{\(signal)} = sub { exit 33 }; $| = 1; print qq(ready\\n); sleep 100"
    #expect(
      try statusOfRecord(
        startedBy: Self.parent(sending: signal), script: "exec perl -e '\(program)'") == 33)
  }

  /// A program in Python that starts its arguments, and signals them when they say something.
  private static func parent(sending signal: String) -> String {
    """
    import signal, subprocess, sys
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
    process.stdout.readline()
    process.send_signal(signal.SIG\(signal))
    sys.exit(process.wait())
    """
  }

  /// The launcher is in the group, and must not send it once more.
  @Test func aSignalForTheGroupReachesTheCommandOnce() throws {
    let script = """
      trap 'count=${count}x' USR1
      kill -USR1 0
      # Whatever the launcher passes on comes before this, which goes by way of it.
      trap 'echo $count; kill $!; exit 33' USR2
      sh -c 'trap "" USR1; kill -USR1 0; echo ready; exec sleep 100 >/dev/null' &
      while :; do :; done
      """
    let parent = """
      import os, signal, subprocess, sys
      process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, start_new_session=True)
      process.stdout.readline()
      process.send_signal(signal.SIGUSR2)
      sys.stdout.write(process.stdout.read().decode())
      sys.exit(process.wait())
      """
    let run = try recordStarted(by: parent, script: script)
    #expect(run.status == 33)
    #expect(run.outputText == "xx\n")
  }

  /// As where a service manager gives sockets to what it starts.
  @Test(arguments: ["LISTEN_PID", "WATCHDOG_PID"])
  func variablesThatNameTheProcessNameTheCommand(name: String) throws {
    let parent = """
      import os, sys
      os.environ["\(name)"] = str(os.getpid())
      os.execv(sys.argv[1], sys.argv[1:])
      """
    #expect(try statusOfRecord(startedBy: parent, script: "test $\(name) = $$") == 0)
    let another = parent.replacing("os.getpid()", with: "1")
    #expect(try statusOfRecord(startedBy: another, script: "test $\(name) = 1") == 0)
  }

  @Test func theSignalOfTheParentsEndIsThatOfTheCommand() throws {
    let become = """
      import ctypes, os, sys
      PR_SET_PDEATHSIG = 1
      ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, 15, 0, 0, 0)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    let script = """
      exec python3 -c 'import ctypes, sys
      PR_GET_PDEATHSIG = 2
      signal = ctypes.c_int()
      ctypes.CDLL(None).prctl(PR_GET_PDEATHSIG, ctypes.byref(signal), 0, 0, 0)
      sys.exit(signal.value)'
      """
    #expect(try statusOfRecord(startedBy: become, script: script) == 15)
  }

  /// As those of a container, where it is the first process.
  @Test func orphansThatMemtraceGetsAreLetGo() throws {
    let script = "pid=$(sh -c 'true & echo $!'); while kill -0 $pid; do :; done 2>&-; exit 33"
    let becomeReaper = """
      import ctypes, os, sys
      PR_SET_CHILD_SUBREAPER = 36
      ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    #expect(try statusOfRecord(startedBy: becomeReaper, script: script) == 33)
  }

  /// Only the leader of its session is told, which is memtrace here.
  @Test func theEndOfTheTerminalReachesTheCommand() throws {
    let script = "trap 'exit 33' HUP; echo ready; while :; do :; done"
    let terminal = """
      import os, pty, sys
      pid, terminal = pty.fork()
      if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
      while b"ready" not in os.read(terminal, 1000): pass
      os.close(terminal)
      sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
      """
    #expect(try statusOfRecord(startedBy: terminal, script: script) == 33)
  }

  /// Records a shell script.
  ///
  /// - Parameters:
  ///   - parent: A program in Python that executes its arguments, which are those of `memtrace`.
  ///   - script: The script.
  /// - Returns: The status of `memtrace`; nil where it was killed.
  /// - Throws: What keeps the program from being started.
  private func statusOfRecord(startedBy parent: String, script: String) throws -> Int32? {
    try recordStarted(by: parent, script: script).status
  }

  private func recordStarted(by parent: String, script: String) throws -> ProcessRun {
    try ProcessRun.run(
      [
        "/usr/bin/python3", "-c", parent, BuiltProducts.memtrace.string, "record", "-q", "--",
        "/bin/sh", "-c", script,
      ], directory: directory.path, timeout: 30
    )
  }

  /// It is inherited by what is started.
  @Test func anAlarmThatWasSetBeforeIsThatOfTheCommand() throws {
    let run = try ProcessRun.run(
      [
        "/usr/bin/perl", "-e", "alarm 2; exec @ARGV", BuiltProducts.memtrace.string, "record", "--",
        "sleep", "100",
      ], directory: directory.path)
    #expect(run.status == 142)
    #expect(run.errorText.contains("sleep was killed by signal 14 (SIGALRM)"))
  }

  @Test func aCommandThatReplacesItselfLeadsToWhatItBecame() throws {
    let run = try memtrace(
      "record", "-o", "t.mtrace", "--", "sh", "-c", "exec /bin/cat /dev/null", in: directory.path)
    #expect(run.errorText.contains("next: memtrace report t.cat."))
    let leaks = try memtrace("leaks", "t.mtrace", in: directory.path)
    #expect(leaks.status == 64)
    #expect(
      leaks.errorText.contains("look into the trace of that program, which 'memtrace info' names\n")
    )
  }

  /// What may have a value, and has one, beside other options.
  @Test(arguments: [
    ("--redzones=32 --zombies", "REDZONES=32 ZOMBIES=67108864"),
    ("--redzones --zombies=1MiB --force", "REDZONES=16 ZOMBIES=1048576"),
    ("--guard=24 --guard-alignment=8", "GUARD=24 GUARD_ALIGNMENT=8"),
    ("--guard 24,1KiB- --guard-every 3", "GUARD=24,1024- GUARD_EVERY=3"),
    ("--guard --guard-front", "GUARD=all GUARD_FRONT=1"),
    ("--guard --refcounts=Node --redzones", "GUARD=all REDZONES=16 REFCOUNTS=Node"),
    ("--guard=0", "GUARD=0-0"),
    ("--refcounts --guard=0,16 --force", "GUARD=0,16 REFCOUNTS=1"),
  ])
  func optionsHaveTheValuesThatTheyWereGiven(options: String, variables: String) throws {
    let options = options.split(separator: " ").map(String.init)
    let run = try memtrace(
      arguments: ["record", "-q", "-o", "t.mtrace"] + options + ["--", "env"], in: directory.path)
    let wanted =
      /MEMTRACE_((?:GUARD|GUARD_EVERY|GUARD_ALIGNMENT|GUARD_FRONT|REDZONES|REFCOUNTS|ZOMBIES)=.*)/
    let found = run.outputText.split(separator: "\n").compactMap {
      try? wanted.wholeMatch(in: $0)?.1
    }
    #expect(found.sorted().joined(separator: " ") == variables)
  }

  @Test(arguments: ["--guard", "--redzones", "--zombies", "--refcounts"])
  func anEmptyValueIsNotTheStandardOne(option: String) throws {
    for command in ["record", "check", "allocations"] {
      let run = try memtrace(command, option + "=", "--", "touch", "ran", in: directory.path)
      #expect(run.status == 64)
      #expect(
        run.errorText == "memtrace: \(option)= has no value; give it one, or leave the = out\n")
    }
    #expect(directory.entries.isEmpty)
    // What belongs to the command is none of our business.
    let echo = try memtrace("record", "-q", "--", "echo", option + "=", in: directory.path)
    #expect(echo.outputText == option + "=\n")
  }

  @Test(arguments: ["0", "0,5", "0-5", "5,0", "0+"])
  func noAllocationHasTheNumberZero(numbers: String) throws {
    let run = try memtrace("record", "--fail-at=\(numbers)", "--", "true", in: directory.path)
    #expect(run.status == 64)
    #expect(
      run.errorText.hasPrefix(
        "Error: --fail-at takes up to 16 numbers from 1 and ranges of them, such as "
          + "5,100-200,1000+, not '\(numbers)'.\n"))
  }

  @Test func theGreatestLimitIsTaken() throws {
    let words = ["record", "-q", "--limit", "1PiB", "--", "env"]
    let run = try memtrace(arguments: words, in: directory.path)
    #expect(run.outputText.contains("MEMTRACE_LIMIT=1125899906842624\n"))
  }

  @Test func sizesOfTracesAreNumbersOfBytes() throws {
    let words = ["record", "-q", "--max-size", "2GiB", "--keep-free=0", "--", "env"]
    let run = try memtrace(arguments: words, in: directory.path)
    #expect(run.outputText.contains("MEMTRACE_MAX_SIZE=2147483648\n"))
    #expect(run.outputText.contains("MEMTRACE_KEEP_FREE=0\n"))
    let wrong = try memtrace("record", "--max-size", "1k-2k", "--", "true", in: directory.path)
    #expect(wrong.status == 64)
    #expect(
      wrong.errorText.hasPrefix(
        "Error: --max-size takes a number of bytes up to 1PiB, such as 64MiB, not '1k-2k'.\n"))
    let late = try memtrace("info", "--keep-free=1k", "some.mtrace", in: directory.path)
    #expect(late.status == 64)
  }

  @Test func aFolderToKeepTracesInIsOne() throws {
    _ = try ProcessRun.run(["/bin/sh", "-c", "echo >file"], directory: directory.path)
    for (name, why) in [("file", "Not a directory"), ("none/x", "No such file or directory")] {
      let run = try memtrace("check", "--keep", name, "--", "touch", "ran", in: directory.path)
      #expect(run.status == 73)
      #expect(
        run.errorText
          == "memtrace: cannot keep traces in \(name): \(why); give another folder to --keep\n")
    }
    #expect(directory.entries == ["file"])
  }

  @Test func aScriptWithoutInterpreterRunsInTheShell() throws {
    let made = try ProcessRun.run(
      ["/bin/sh", "-c", "printf 'echo script $1\\n' >script; chmod +x script"],
      directory: directory.path)
    #expect(made.status == 0)
    let run = try memtrace("record", "-q", "--", "./script", "word", in: directory.path)
    #expect(run.outputText == "script word\n")
    #expect(run.status == 0)
  }

  @Test func argumentsReachTheCommandByteForByte() throws {
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", #"exec "$0" record -q -- printf '%s|' "$(printf 'a\377b')" '' -o -- x"#,
        BuiltProducts.memtrace.string,
      ], directory: directory.path)
    #expect(run.output == Array("a".utf8) + [0xff] + Array("b||-o|--|x|".utf8))
  }

  /// A path in Latin-1, by itself and by way of `PATH`.
  @Test(arguments: ["./caf\\351/run", "run"])
  func commandsAreFoundByteForByte(name: String) throws {
    let script = """
      cd "$1"; folder=$(printf 'caf\\351'); mkdir "$folder"
      printf '#!/bin/sh\\necho found "$0"\\n' >"$folder/run"; chmod +x "$folder/run"
      PATH="$PWD/$folder:$PATH" exec "$2" record -q -o x.mtrace -- "$(printf "$3")"
      """
    let directory = try ScratchDirectory()
    let run = try ProcessRun.run([
      "/bin/sh", "-c", script, "sh", directory.path.string, BuiltProducts.memtrace.string, name,
    ])
    #expect(run.outputText.hasPrefix("found "))
    #expect(run.status == 0)
  }

  @Test func theTerminatorIsOptional() throws {
    let run = try memtrace("record", "-q", "echo", "-n", "--", "x", in: directory.path)
    #expect(run.outputText == "-- x")
  }
}
