import ArgumentParser
import Symbolication

/// How addresses become names, for every report with stacks.
struct SymbolOptions: ParsableArguments {
  @Flag(name: .customLong("full-names"), help: "Print names with all their template arguments.")
  var fullNames = false

  @Option(
    name: .customLong("debug-dir"),
    help: ArgumentHelp(
      "Look for separate debug files here, too; may be repeated.", valueName: "folder"),
    completion: .directory)
  var debugDirectories: [String] = []

  /// A symbolicator for a trace recorded at a time.
  static func symbolicator(
    _ options: SymbolOptions?, recordedAt nanoseconds: UInt64
  ) -> any Symbolicator {
    ELFSymbolicator(
      debugDirectories: (options?.debugDirectories ?? []) + ["/usr/lib/debug"],
      recordedAt: nanoseconds)
  }
}
