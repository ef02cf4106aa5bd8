import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Finds the file that a command name stands for, by the rules of execvp(3).
struct ExecutableSearch {
  /// The value of `PATH`, byte for byte; `nil` when it is not set.
  var path: [UInt8]?

  /// The file to execute.
  ///
  /// - Parameter name: As typed. With a slash it is a path already.
  /// - Returns: A path, relative if the name or the entry of `PATH` is.
  /// - Throws: ``CommandFailure`` with 127 when there is no such file, with 126 when there is one
  ///   but it may not be executed.
  func locate(_ name: CString) throws(CommandFailure) -> FilePath {
    guard !name.bytes.isEmpty else {
      throw CommandFailure("the command is empty", exitStatus: ExitStatus.notFound)
    }
    if name.bytes.contains(UInt8(ascii: "/")) {
      if let found = try Self.check(name.path) { return found }
      throw CommandFailure("\(name.text): no such file", exitStatus: ExitStatus.notFound)
    }
    var refusal: CommandFailure?
    for folder in folders {
      do throws(CommandFailure) {
        if let found = try Self.check(folder.path.pushing(name.path)) { return found }
      } catch {
        refusal = refusal ?? error
      }
    }
    if let refusal { throw refusal }
    throw CommandFailure("\(name.text): command not found", exitStatus: ExitStatus.notFound)
  }

  /// An empty entry means the working directory; the default is that of execvp(3).
  private var folders: [CString] {
    (path ?? Array("/bin:/usr/bin".utf8))
      .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map { $0.isEmpty ? CString(".") : CString(bytes: Array($0)) }
  }

  /// `nil` when nothing is there.
  private static func check(_ path: FilePath) throws(CommandFailure) -> FilePath? {
    let status: FileStatus
    do throws(Errno) {
      status = try FileStatus(of: path)
    } catch {
      if error == .noSuchFileOrDirectory || error == .notDirectory { return nil }
      throw refusal(path, String(describing: error))
    }
    if status.isDirectory { throw refusal(path, "is a directory") }
    guard path.withPlatformString({ access($0, X_OK) }) == 0 else {
      throw refusal(path, String(describing: Errno(rawValue: errno)))
    }
    return path
  }

  private static func refusal(_ path: FilePath, _ reason: String) -> CommandFailure {
    CommandFailure("\(path): \(reason)", exitStatus: ExitStatus.notExecutable)
  }
}
