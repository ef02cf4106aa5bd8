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

  mutating func validate() throws {
    for folder in folders {
      guard let status = try? FileStatus(of: FilePath(folder)), status.isDirectory else {
        throw ValidationError("--debug-dir: there is no folder '\(folder)'.")
      }
    }
  }
}
