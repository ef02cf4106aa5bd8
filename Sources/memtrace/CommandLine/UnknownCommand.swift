import ArgumentParser
import Reports
import SystemPackage

/// Says what is meant by a first word that is no command: to the parser it is only one argument too
/// many.
enum UnknownCommand {
  /// - Parameter word: What follows `memtrace`; nil for nothing.
  /// - Throws: ``CommandFailure`` when it is neither a command nor an option.
  static func check(_ word: String?) throws(CommandFailure) {
    let commands = MemtraceCommand.configuration.subcommands.compactMap {
      $0.configuration.commandName
    }
    guard let word, !word.hasPrefix("-"), word != "help", !commands.contains(word) else { return }
    throw CommandFailure(
      "there is no command '\(word)'; \(advice(for: word, commands))",
      exitStatus: ExitStatus.usage)
  }

  private static func advice(for word: String, _ commands: [String]) -> String {
    let file = ShellText.quoted(word)
    if TraceFileHeader.isTrace(FilePath(argument: word)) {
      return "to read it: memtrace report \(file)"
    }
    if word.contains("/") { return "to record it: memtrace record -- \(file)" }
    let near = NearMatches.of(word, in: commands)
    return near.isEmpty
      ? "memtrace --help lists them" : "near: " + near.joined(separator: ", ")
  }
}
