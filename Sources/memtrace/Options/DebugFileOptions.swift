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

  @Option(
    help: ArgumentHelp(
      "Look for the program, its libraries and sources below this folder: the file system of a container.",
      valueName: "folder"),
    completion: .directory)
  var sysroot: String?

  @Flag(
    name: .customLong("debuginfod"),
    help: "Fetch debug files that are missing from the servers in DEBUGINFOD_URLS.")
  var debuginfod = false

  /// What these options ask for.
  var search: DebugFileSearch {
    DebugFileSearch(
      folders: folders, root: sysroot.map { FilePath($0) }, asksServers: debuginfod)
  }

  mutating func validate() throws {
    if debuginfod, EnvironmentVariables.current["DEBUGINFOD_URLS"]?.isEmpty ?? true {
      throw ValidationError(
        "--debuginfod: DEBUGINFOD_URLS names no server, as https://debuginfod.debian.net is one.")
    }
    for (option, folder) in folders.map({ ("--debug-dir", $0) }) + [("--sysroot", sysroot)] {
      guard let folder else { continue }
      guard let status = try? FileStatus(of: FilePath(folder)), status.isDirectory else {
        throw ValidationError("\(option): there is no folder '\(folder)'.")
      }
    }
  }
}
