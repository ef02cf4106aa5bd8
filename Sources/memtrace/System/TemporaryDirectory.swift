import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A directory of its own, readable by this user only.
struct TemporaryDirectory {
  let path: FilePath

  /// Creates it in `TMPDIR`, else in `/tmp`.
  init(environment: EnvironmentVariables) throws(CommandFailure) {
    let parent = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    let pattern = FilePath(parent).absolute.appending("memtrace-XXXXXX")
    var template =
      pattern.withPlatformString { CString(copying: $0).bytes }
      .map(CChar.init(bitPattern:)) + [0]
    guard mkdtemp(&template) != nil else {
      throw CommandFailure(
        "cannot create a temporary directory in \(parent): \(Errno(rawValue: errno)); "
          + "set TMPDIR to another place",
        exitStatus: ExitStatus.cannotCreate)
    }
    chmod(template, 0o700)  // whatever the umask says
    path = FilePath(platformString: template)
  }

  /// Removes it and the files in it; it holds no directories.
  func remove() {
    for name in path.directoryEntries {
      _ = path.appending(name).withPlatformString { unlink($0) }
    }
    _ = path.withPlatformString { rmdir($0) }
  }
}
