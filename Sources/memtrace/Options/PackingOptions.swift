import ArgumentParser
import TraceReader

/// How to pack, for `pack`.
struct PackingOptions: ParsableArguments {
  static let defaultLevel = 6

  @Option(
    help: ArgumentHelp(
      "How hard to compress, 1 (fast) to 19 (small).", valueName: "level"))
  var level = Self.defaultLevel

  @Flag(
    name: .customLong("no-symbols"),
    help: "Leave the names out; reports then need the program and its libraries.")
  var noSymbols = false

  @OptionGroup var debugFiles: DebugFileOptions

  mutating func validate() throws {
    guard TracePacker.levels.contains(level) else {
      throw ValidationError(
        "--level takes \(TracePacker.levels.lowerBound) to \(TracePacker.levels.upperBound), "
          + "not \(level).")
    }
    if noSymbols, !debugFiles.folders.isEmpty {
      throw ValidationError("--debug-dir is for the names, which --no-symbols leaves out.")
    }
  }

  /// What packs with these options.
  var session: PackSession {
    PackSession(level: level, hasSymbols: !noSymbols, debugDirectories: debugFiles.folders)
  }
}
