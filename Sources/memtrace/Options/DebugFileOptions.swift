import ArgumentParser
import SystemPackage

/// Where names are looked for besides the program and its libraries.
struct DebugFileOptions: ParsableArguments {
  @Option(
    name: .customLong("debug-dir"),
    help: ArgumentHelp(
      "Look for separate debug files here, too; may be repeated.", valueName: "folder"),
    completion: .directory)
  var folders: [String] = []

  @Flag(
    name: .customLong("debuginfod"),
    help: "Fetch debug files that are missing from the servers in DEBUGINFOD_URLS.")
  var debuginfod = false

  /// What these options ask for.
  var search: DebugFileSearch { DebugFileSearch(folders: folders, asksServers: debuginfod) }

  mutating func validate() throws {
    if debuginfod, EnvironmentVariables.current["DEBUGINFOD_URLS"]?.isEmpty ?? true {
      throw ValidationError(
        "--debuginfod: DEBUGINFOD_URLS names no server, as https://debuginfod.debian.net is one.")
    }
    for folder in folders {
      guard let status = try? FileStatus(of: FilePath(folder)), status.isDirectory else {
        throw ValidationError("--debug-dir: there is no folder '\(folder)'.")
      }
    }
  }
}
