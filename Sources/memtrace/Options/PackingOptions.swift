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
    for (option, isGiven) in [
      ("--debug-dir", !debugFiles.folders.isEmpty), ("--sysroot", debugFiles.sysroot != nil),
      ("--debuginfod", debugFiles.debuginfod),
    ] where noSymbols && isGiven {
      throw ValidationError("\(option) is for the names, which --no-symbols leaves out.")
    }
  }

  /// What packs with these options.
  var session: PackSession {
    PackSession(level: level, hasSymbols: !noSymbols, debugFiles: debugFiles.search)
  }
}
