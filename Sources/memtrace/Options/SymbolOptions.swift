import ArgumentParser
import Symbolication
import SystemPackage

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

  mutating func validate() throws {
    for folder in debugDirectories {
      guard let status = try? FileStatus(of: FilePath(folder)), status.isDirectory else {
        throw ValidationError("--debug-dir: there is no folder '\(folder)'.")
      }
    }
  }

  /// A symbolicator for a trace recorded at a time.
  static func symbolicator(
    _ options: SymbolOptions?, recordedAt nanoseconds: UInt64
  ) -> any Symbolicator {
    ELFSymbolicator(
      debugDirectories: (options?.debugDirectories ?? []) + ["/usr/lib/debug"],
      recordedAt: nanoseconds)
  }
}
