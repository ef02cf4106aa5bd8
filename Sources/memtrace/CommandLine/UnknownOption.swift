import ArgumentParser

/// Names an option that there is not, where its value has been taken for an argument.
///
/// The parser says so only when all else is right: of `check --format json -- prog` it would say that
/// there is a trace, `json`, beside the command.
enum UnknownOption {
  /// Looks through memtrace's own words; called when the arguments make no sense together.
  ///
  /// - Throws: `ValidationError` for the first option that the command does not have.
  static func check() throws {
    let words = OwnArguments.words.prefix { $0 != "--" }
    let command = MemtraceCommand.configuration.subcommands.first {
      $0.configuration.commandName == words.first
    }
    guard let command else { return }
    let known = options(in: command.helpMessage(includeHidden: true, columns: 200))
    let used = words.compactMap { $0.prefixMatch(of: /--[a-z-]+/).map { String($0.output) } }
    guard let option = used.first(where: { !known.contains($0) }) else { return }
    throw ValidationError("Unknown option '\(option)'")
  }

  private static func options(in help: String) -> Set<String> {
    Set(help.matches(of: /--[a-z][a-z-]*/).map { String($0.output) })
  }
}
