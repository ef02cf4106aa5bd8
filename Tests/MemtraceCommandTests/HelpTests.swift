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
    "record", "snapshot", "mark", "report", "allocations", "generations", "unfreed", "heap",
    "leaks", "errors", "history",
    "info", "dump", "pack", "unpack", "check", "diff",
  ])
  func eachCommandExplainsItself(command: String) throws {
    let run = try memtrace(command, "--help")
    #expect(run.status == 0)
    expectSnapshot(run.outputText, "help-\(command).txt")
    #expect(run.outputText == (try memtrace("help", command)).outputText)
  }

  @Test func theVersionIsOneLine() throws {
    let run = try memtrace("--version")
    #expect(run.status == 0)
    #expect(run.outputText.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
  }
}
