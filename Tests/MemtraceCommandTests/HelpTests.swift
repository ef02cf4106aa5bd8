import Testing
import TraceTestSupport

/// The help texts, whole.
@Suite struct HelpTests {
  @Test func theToolExplainsItself() throws {
    let run = try memtrace("--help")
    #expect(run.status == 0)
    expectSnapshot(run.outputText, "help.txt")
  }

  @Test func withoutArgumentsTheHelpIsShown() throws {
    let run = try memtrace()
    #expect(run.outputText == (try memtrace("--help")).outputText)
  }

  @Test(arguments: [
    "record", "attach", "pause", "resume", "mark", "snapshot", "report", "allocations",
    "generations", "unfreed", "heap", "mappings", "leaks", "dangling", "errors",
    "history", "info", "dump", "pack", "unpack", "export", "check", "diff",
  ])
  func eachCommandExplainsItself(command: String) throws {
    let run = try memtrace(command, "--help")
    #expect(run.status == 0)
    expectSnapshot(run.outputText, "help-\(command).txt")
    #expect(run.outputText == (try memtrace("help", command)).outputText)
  }

  @Test(arguments: ["-5", "0", "20", "39"])
  func helpIsShownOnANarrowTerminal(columns: String) throws {
    let runs = try [columns, "40"].map { columns in
      try ProcessRun.run(
        [BuiltProducts.memtrace.string, "help", "record"],
        environment: ["PATH=/usr/bin:/bin", "COLUMNS=\(columns)"])
    }
    #expect(runs[0].status == 0, "\(runs[0].errorText.prefix(200))")
    #expect(runs[0].outputText == runs[1].outputText)
  }

  @Test func helpThatCannotBeWrittenFails() throws {
    let run = try ProcessRun.run(
      ["/bin/sh", "-c", "\(BuiltProducts.memtrace) help record > /dev/full"],
      environment: ["PATH=/usr/bin:/bin"])
    #expect(run.status == 74)
    #expect(
      run.errorText
        == "memtrace: cannot write standard output: No space left on device\n")
  }

  @Test func theFormsOfAVerdictAreCompleted() throws {
    let script = try memtrace("--generate-completion-script", "bash").outputText
    let forms = [
      "text", "json", "github", "summary", "sarif", "junit", "xunit", "gitlab", "valgrind",
    ]
    #expect(script.contains(forms.map { "'\($0)'" }.joined(separator: "$'\\n'")))
  }

  @Test func theVersionIsOneLine() throws {
    let run = try memtrace("--version")
    #expect(run.status == 0)
    #expect(run.outputText.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
  }
}
