import SystemPackage
import Testing
import TraceTestSupport

/// What `record` says, word for word, when it cannot do as it was told.
@Suite struct RecordErrorTests {
  private let directory: ScratchDirectory

  init() throws {
    directory = try ScratchDirectory()
  }

  @Test func aMissingCommandIsNotFound() throws {
    let run = try memtrace("record", "--", "no-such-command-here", in: directory.path)
    #expect(run.status == 127)
    #expect(run.errorText == "memtrace: no-such-command-here: command not found\n")
    #expect(directory.entries.isEmpty)
  }

  @Test func aMissingPathIsNotFound() throws {
    let run = try memtrace("record", "--", "./missing", in: directory.path)
    #expect(run.status == 127)
    #expect(run.errorText == "memtrace: ./missing: no such file\n")
  }

  @Test func noEscapeSequenceReachesTheTerminal() throws {
    let missing = try memtrace("record", "--", "./\u{1b}[31m\u{202e}x\n", in: directory.path)
    #expect(missing.errorText == "memtrace: ./\\x1b[31m\\u{202e}x\\n: no such file\n")
    let unknown = try memtrace("record", "--\u{1b}[31m", in: directory.path)
    #expect(unknown.status == 64)
    #expect(unknown.errorText.hasPrefix("Error: Unknown option '--\\x1b[31m'.\n"))
    #expect(unknown.errorText.contains("\nUsage: memtrace record"))
  }

  @Test func aDirectoryIsNotExecutable() throws {
    let run = try memtrace("record", "--", "/tmp", in: directory.path)
    #expect(run.status == 126)
    #expect(run.errorText == "memtrace: /tmp: is a directory\n")
  }

  @Test func aTraceIsNotCalledAsAFolder() throws {
    let run = try memtrace("record", "-o", "traces/", "--", "true", in: directory.path)
    #expect(run.status == 64)
    #expect(
      run.errorText == "memtrace: traces/ is the name of a folder; -o needs that of a file, "
        + "such as traces/trace.mtrace\n")
    #expect(directory.entries.isEmpty)
  }

  @Test func aPlainFileIsNotExecutable() throws {
    let run = try memtrace("record", "--", "/etc/passwd", in: directory.path)
    #expect(run.status == 126)
    #expect(run.errorText == "memtrace: /etc/passwd: Permission denied\n")
  }

  @Test func noCommandIsAUsageError() throws {
    let run = try memtrace("record", in: directory.path)
    #expect(run.status == 64)
    #expect(run.errorText.hasPrefix("Error: Missing the command to record, after '--'.\n"))
  }

  @Test func anUnknownOptionIsAUsageError() throws {
    let run = try memtrace("record", "--deep", "true", in: directory.path)
    #expect(run.status == 64)
    #expect(run.errorText.hasPrefix("Error: Unknown option '--deep'.\n"))
  }

  @Test(arguments: ["0", "512XB", "1k-2k", "2TiB"])
  func aSampleOfNoSizeIsAUsageError(_ size: String) throws {
    let run = try memtrace("record", "--sample", size, "--", "true", in: directory.path)
    #expect(run.status == 64)
    #expect(
      run.errorText.hasPrefix(
        "Error: --sample takes a number of bytes from 1 to 1TiB, such as 512KiB, not '\(size)'.\n"))
  }

  @Test(arguments: ["0", "0s", "10ms", "1.5", "86401s", "s"])
  func anIntervalOfNoWholeSecondsIsAUsageError(_ interval: String) throws {
    let run = try memtrace(
      "record", "--snapshot-interval=\(interval)", "--", "true", in: directory.path)
    #expect(run.status == 64)
    #expect(
      run.errorText.contains(
        "--snapshot-interval takes whole seconds from 1 to 86400, such as 1 or 1s, "
          + "not '\(interval)'.\n"))
  }

  @Test(arguments: ["1", "1s", "86400s"])
  func anIntervalIsWholeSeconds(_ interval: String) throws {
    let script = "echo $MEMTRACE_SNAPSHOT_INTERVAL"
    let run = try memtrace(
      "record", "-q", "--snapshot-interval", interval, "--", "sh", "-c", script, in: directory.path)
    #expect(run.outputText == (interval == "86400s" ? "86400\n" : "1\n"))
  }

  @Test(arguments: ["0", "1025", "-1"])
  func aDepthOutOfRangeIsAUsageError(depth: String) throws {
    let run = try memtrace("record", "--depth=\(depth)", "--", "true", in: directory.path)
    #expect(run.status == 64)
    #expect(
      run.errorText.hasPrefix("Error: --depth takes 1 to 1024 frames, not \(depth).\n"))
  }

  #if arch(x86_64)
    @Test(arguments: [["--list"], ["--library-path", "/lib", "--verify"]])
    func aLoaderThatOnlyListsIsNotRecorded(options: [String]) throws {
      let loader = "/lib64/ld-linux-x86-64.so.2"
      let run = try memtrace(
        arguments: ["record", "--", loader] + options + ["/bin/true"], in: directory.path)
      #expect(run.status == 125)
      #expect(run.outputText == "")
      #expect(
        run.errorText
          == "memtrace: cannot record \(loader): with \(options.last!) it runs no program\n")
    }

    @Test func aLoaderThatRunsAProgramIsRecorded() throws {
      let run = try memtrace(
        "record", "-q", "--", "/lib64/ld-linux-x86-64.so.2", "--argv0", "--list", "/bin/echo",
        "--list", in: directory.path)
      #expect(run.status == 0)
      #expect(run.outputText == "--list\n")
      #expect(directory.entries.count == 1)
    }
  #endif

  @Test func anExistingTraceIsNotOverwritten() throws {
    _ = try memtrace("record", "-o", "x.mtrace", "--", "true", in: directory.path)
    let run = try memtrace("record", "-o", "x.mtrace", "--", "true", in: directory.path)
    #expect(run.status == 73)
    #expect(
      run.errorText
        == "memtrace: x.mtrace exists; choose another name, or replace it with --force\n")
  }

  @Test(arguments: ["out", "out.trace", "a.b.c", "out.%p.log"])
  func aTraceMayHaveAnyName(name: String) throws {
    let run = try memtrace("record", "-o", name, "--", "sh", "-c", "exit 3", in: directory.path)
    #expect(run.status == 3)
    #expect(run.errorText.contains("recorded in "))
  }

  /// Nobody could tell what is in it; that nothing was recorded would be wrong.
  @Test func aFolderThatWasMovedMeanwhileIsToldOf() throws {
    _ = try ProcessRun.run(["/bin/mkdir", "here"], directory: directory.path)
    let run = try memtrace(
      "record", "-o", "here/x.mtrace", "--", "mv", "here", "there", in: directory.path)
    #expect(run.status == 125)
    #expect(
      run.errorText
        == "memtrace: no trace was found: mv exited with status 0, but "
        + "\(directory.path.appending("here")), where its traces were to be, cannot be read: "
        + "No such file or directory\n")
    #expect(directory.entries == ["there"])
  }

  @Test(arguments: [[], ["--force"]])
  func evenForceReplacesTracesOnly(options: [String]) throws {
    _ = try ProcessRun.run(["/bin/sh", "-c", "echo precious >notes"], directory: directory.path)
    let run = try memtrace(
      arguments: ["record"] + options + ["-o", "notes", "--", "true"], in: directory.path)
    #expect(run.status == 73)
    #expect(
      run.errorText
        == "memtrace: notes exists and is no trace; choose another name (--force replaces traces "
        + "only)\n")
    let kept = try ProcessRun.run(["/bin/cat", "notes"], directory: directory.path)
    #expect(kept.outputText == "precious\n")
  }

  @Test(arguments: [[], ["--force"]])
  func noTraceTakesThePlaceOfAFolder(options: [String]) throws {
    _ = try ProcessRun.run(["/bin/mkdir", "traces"], directory: directory.path)
    let run = try memtrace(
      arguments: ["record"] + options + ["-o", "traces", "--", "true"], in: directory.path)
    #expect(run.status == 73)
    #expect(
      run.errorText == "memtrace: traces/ is the name of a folder; -o needs that of a file, "
        + "such as traces/trace.mtrace\n")
    #expect(directory.entries == ["traces"])
  }

  @Test func aMissingInterpreterIsNotTheScript() throws {
    let made = try ProcessRun.run(
      ["/bin/sh", "-c", "printf '#!/nonexistent\\n' >script; chmod +x script"],
      directory: directory.path)
    #expect(made.status == 0)
    let run = try memtrace("record", "--", "./script", in: directory.path)
    #expect(run.status == 126)
    #expect(
      run.errorText == "memtrace: ./script: the interpreter that its first line names, or its "
        + "dynamic linker, is not there\n")
  }

  @Test func aMissingFolderIsSaidBeforeTheCommandRuns() throws {
    let run = try memtrace("record", "-o", "/nonexistent/x", "--", "echo", "ran")
    #expect(run.status == 73)
    #expect(run.outputText.isEmpty)
    #expect(
      run.errorText == "memtrace: cannot create a trace in /nonexistent: "
        + "No such file or directory; choose another place with -o\n")
  }

  /// A program can be written and executed as a folder can.
  @Test(arguments: ["plain", "program"])
  func nothingIsWrittenBelowAFile(_ name: String) throws {
    let made = try ProcessRun.run(
      ["/bin/sh", "-c", "echo >plain; echo >program; chmod 755 program"], directory: directory.path)
    #expect(made.status == 0)
    let record = try memtrace(
      "record", "-o", "\(name)/x", "--", "touch", "ran", in: directory.path)
    #expect(record.status == 73)
    #expect(
      record.errorText == "memtrace: cannot create a trace in \(directory.path)/\(name): "
        + "Not a directory; choose another place with -o\n")
    let report = try memtrace(
      "allocations", "-o", "\(name)/x", "--", "touch", "ran", in: directory.path)
    #expect(report.status == 73)
    #expect(report.errorText == "memtrace: cannot write \(name)/x: Not a directory\n")
    #expect(directory.entries.sorted() == ["plain", "program"])
  }

  @Test func aWorkingDirectoryThatWasRemovedTakesNoTrace() throws {
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", #"mkdir gone; cd gone; rmdir ../gone; exec "$0" record -- echo ran"#,
        BuiltProducts.memtrace.string,
      ], directory: directory.path)
    #expect(run.status == 73)
    #expect(run.outputText.isEmpty)
    #expect(
      run.errorText == "memtrace: cannot create a trace in .: No such file or directory; "
        + "choose another place with -o\n")
  }

  @Test func aMissingRecorderIsSaid() throws {
    let run = try memtrace(
      "record", "--", "true", in: directory.path, environment: ["MEMTRACE_LIBRARY=/none.so"])
    #expect(run.status == 125)
    #expect(
      run.errorText == "memtrace: /none.so, named by MEMTRACE_LIBRARY, is not a readable file\n")
  }

  /// Whoever waits for a command does not wait in vain.
  @Test(arguments: [
    ["allocations", "-o", "none/report.txt"], ["leaks", "--format", "json", "-o", "none/x.json"],
    ["check", "--output", "text", "--output", "sarif=none/x.sarif"],
    ["check", "--update-baseline", "--baseline", "none/known.yml"],
  ])
  func nothingRunsForAFileThatCannotBeWritten(_ arguments: [String]) throws {
    let file = try #require(arguments.last?.split(separator: "=").last)
    let run = try memtrace(arguments: arguments + ["--", "touch", "ran"], in: directory.path)
    #expect(run.status == 73)
    #expect(run.errorText == "memtrace: cannot write \(file): No such file or directory\n")
    #expect(directory.entries.isEmpty)
  }

  @Test func nothingRunsForAGateWithoutRules() throws {
    let run = try memtrace("check", "--no-default-rules", "--", "touch", "ran", in: directory.path)
    #expect(run.status == 64)
    #expect(
      run.errorText
        == "memtrace: without the default rules there is nothing to check; give a --rule\n")
    #expect(directory.entries.isEmpty)
  }

  /// Nor is a trace overwritten by a report: also none that is cut or packed.
  @Test(arguments: [
    ["allocations", "-o", "TRACE"], ["check", "--output", "json=TRACE"],
  ])
  func nothingRunsForAReportThatWouldReplaceATrace(_ arguments: [String]) throws {
    let made = try memtrace("record", "-q", "-o", "plain", "--", "true", in: directory.path)
    #expect(made.status == 0)
    _ = try memtrace("pack", "plain", "-o", "packed", in: directory.path)
    _ = try ProcessRun.run(["/bin/sh", "-c", "head -c 100 plain >cut"], directory: directory.path)
    let files = directory.entries.sorted()
    #expect(files == ["cut", "packed", "plain"])
    for file in files {
      let words = arguments.map { $0.replacing("TRACE", with: file) }
      let run = try memtrace(arguments: words + ["--", "touch", "ran"], in: directory.path)
      #expect(run.status == 73)
      #expect(run.errorText == "memtrace: \(file) is a trace; give another file to -o\n")
      #expect(directory.entries.sorted() == files)
    }
  }

  /// The file is cited, but neither as a whole nor with what a terminal would obey.
  @Test func aTraceIsNoBaseline() throws {
    let made = try memtrace("record", "-q", "-o", "trace", "--", "true", in: directory.path)
    #expect(made.status == 0)
    let run = try memtrace(
      "check", "--update-baseline", "--baseline", "trace", "--", "touch", "ran",
      in: directory.path)
    #expect(run.status == 64)
    #expect(run.errorText.hasPrefix("memtrace: trace is not YAML: "))
    #expect(run.errorText.utf8.count < 1000)
    #expect(run.errorText.dropLast().unicodeScalars.allSatisfy { $0.value >= 0x20 })
    #expect(directory.entries == ["trace"])
  }

  @Test func anEmptyNameIsNoFileForAReport() throws {
    let run = try memtrace("allocations", "-o", "", "--", "touch", "ran", in: directory.path)
    #expect(run.status == 64)
    #expect(run.errorText == "memtrace: -o needs the name of a file\n")
    #expect(directory.entries.isEmpty)
  }

  @Test func aFolderIsNoFileForAReport() throws {
    let run = try memtrace("allocations", "-o", ".", "--", "touch", "ran", in: directory.path)
    #expect(run.status == 73)
    #expect(run.errorText == "memtrace: cannot write .: Is a directory\n")
    #expect(directory.entries.isEmpty)
  }
}
