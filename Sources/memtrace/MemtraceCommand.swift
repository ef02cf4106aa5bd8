import ArgumentParser

/// The root command: configuration only, the work is in `Commands/`.
@main
struct MemtraceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memtrace",
    abstract: "Records every allocation and free of a program, and answers questions about them.",
    usage: """
      memtrace record [-o FILE] -- COMMAND …
      memtrace SUBCOMMAND TRACE
      memtrace SUBCOMMAND -- COMMAND …
      """,
    discussion: """
      Record a program, then ask as often as you like:

        memtrace record -- ./server --once
        memtrace report server.mtrace

      Every report command also takes a command instead of a trace: it records the command into a \
      temporary file and reports on that.
      """,
    version: Version.current,
    subcommands: [
      RecordCommand.self, AttachCommand.self, PauseCommand.self, ResumeCommand.self,
      MarkCommand.self,
      SnapshotCommand.self, ReportCommand.self,
      AllocationsCommand.self, GenerationsCommand.self, UnfreedCommand.self, HeapCommand.self,
      MappingsCommand.self, LeaksCommand.self, DanglingCommand.self, ErrorsCommand.self,
      HistoryCommand.self, InfoCommand.self, DumpCommand.self, PackCommand.self,
      UnpackCommand.self, ExportCommand.self, CheckCommand.self,
      DiffCommand.self,
    ])

  static func main() {
    do {
      let words = OwnArguments.words
      if let completion = CompletionScript(askedForBy: words) {
        print(completion.text, terminator: "")
        return try Diagnostics.finishOutput()
      }
      try UnknownCommand.check(words.first)
      try EmptyValue.check(words)
      var command = try parseAsRoot(Array(words))
      try command.run()
      try Diagnostics.finishOutput()
    } catch {
      Diagnostics.exit(for: error)
    }
  }
}
