import SystemPackage

/// A command that is to be recorded, found and ready to start.
struct RecordedCommand {
  /// As typed.
  var name: String
  var executable: FilePath
  /// `argv`, byte for byte.
  var arguments: [CString]

  /// Finds the executable of a command line.
  ///
  /// - Parameters:
  ///   - words: The command and its arguments, as the argument parser gives them: the last words
  ///     of memtrace's own command line.
  ///   - environment: Where `PATH` is taken from.
  /// - Throws: ``CommandFailure`` with 127 or 126, as shells do.
  init(words: [String], environment: EnvironmentVariables) throws(CommandFailure) {
    let arguments = Self.rawArguments(words)
    guard let name = arguments.first else {
      throw CommandFailure("no command was given", exitStatus: ExitStatus.usage)
    }
    self.name = name.text
    executable = try ExecutableSearch(path: environment.bytes(of: "PATH")).locate(name)
    self.arguments = arguments
  }

  /// The words without the argument parser's conversion to UTF-8.
  private static func rawArguments(_ words: [String]) -> [CString] {
    let tail = OwnArguments.all.suffix(words.count)
    return tail.map(\.text) == words ? Array(tail) : words.map { CString($0) }
  }
}
