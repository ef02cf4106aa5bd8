import CLaunch
import SystemPackage

/// A directory of its own, readable by this user only, which goes with the process.
///
/// There is one at a time.
struct TemporaryDirectory {
  let path: FilePath

  /// Creates it in `TMPDIR`, else in `/tmp`.
  init(environment: EnvironmentVariables) throws(CommandFailure) {
    let chosen = environment.bytes(of: "TMPDIR").map { CString(bytes: $0).path }
    let parent = chosen.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    let pattern = parent.absolute.appending("memtrace-XXXXXX")
    var template =
      pattern.withPlatformString { CString(copying: $0).bytes }
      .map(CChar.init(bitPattern:)) + [0]
    let error = claunch_make_temporary_directory(&template)
    guard error == 0 else {
      throw CommandFailure(
        "cannot create a temporary directory in \(parent): \(Errno(rawValue: error)); "
          + "set TMPDIR to another place",
        exitStatus: ExitStatus.cannotCreate)
    }
    path = FilePath(platformString: template)
  }

  /// Removes it and the files in it; it holds no directories.
  func remove() { claunch_remove_temporary_directory() }
}
