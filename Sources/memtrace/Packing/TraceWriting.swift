import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// The file that a packed or unpacked trace is written to.
struct TraceTarget {
  /// Absolute.
  let path: FilePath
  /// The path as the user knows it.
  let name: String
  /// Whether a trace that is there may be replaced.
  var force = false

  /// Checks that nothing is lost when the file made of a trace is put here.
  ///
  /// - Throws: ``CommandFailure`` when it is the trace itself, or something that may not be replaced.
  fileprivate func check(from source: FilePath) throws(CommandFailure) {
    if let there = try? FileStatus(of: path), let read = try? FileStatus(of: source),
      there.isSameFile(as: read)
    {
      throw CommandFailure(
        "\(name) is the trace that is read; choose another name",
        exitStatus: ExitStatus.cannotCreate)
    }
    try OutputNaming.checkReplaceable(path, shownAs: name, force: force)
  }
}

/// Creates a file for a packed or unpacked trace.
enum TraceWriting {
  /// Lets `body` fill a new file beside the target and puts it there when it is whole.
  ///
  /// What is at the target stays untouched until then, and if anything fails. Until it is whole the
  /// file has no name, where the file system can do that: nothing is left behind by who is killed.
  ///
  /// - Parameters:
  ///   - target: Where the file belongs.
  ///   - source: The trace that `body` reads.
  ///   - body: Fills the empty file.
  /// - Returns: What `body` returns.
  /// - Throws: ``CommandFailure`` when the file cannot be created or written, or when the target is
  ///   the source or may not be replaced.
  static func create<Result>(
    _ target: TraceTarget, from source: FilePath,
    _ body: (FileDescriptor) throws(TraceError) -> Result
  ) throws(CommandFailure) -> Result {
    try target.check(from: source)
    // Two of memtrace at a time do not write into one file, and none waits for an interrupted one.
    let part = target.path.goingOn(with: ".\(getpid()).part")
    do {
      let result = try fill(part, shownAs: target.name, body)
      // Something may have come there while this went on.
      try target.check(from: source)
      try move(part, to: target)
      return result
    } catch {
      part.remove()
      throw error
    }
  }

  private static func fill<Result>(
    _ path: FilePath, shownAs name: String, _ body: (FileDescriptor) throws(TraceError) -> Result
  ) throws(CommandFailure) -> Result {
    path.remove()
    FileSizeLimit.letWritesFail()
    let nameless = openNameless(beside: path)
    let file = if let nameless { nameless } else { try open(path, shownAs: name) }
    do throws(TraceError) {
      let result = try body(file)
      if let nameless { try give(nameless, path) }
      try close(file)
      return result
    } catch {
      throw CommandFailure("\(name): \(error.description)", exitStatus: ExitStatus.ioError)
    }
  }

  private static let permissions: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]

  private static func open(
    _ path: FilePath, shownAs name: String
  ) throws(CommandFailure) -> FileDescriptor {
    do {
      return try FileDescriptor.open(
        path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
        permissions: permissions)
    } catch {
      throw CommandFailure(
        "cannot create \(name): \(error)", exitStatus: ExitStatus.cannotCreate)
    }
  }

  /// A file that vanishes when it is closed, unless it is given a name before; nil where there can
  /// be none, as on some network file systems, or where it could not be given one.
  private static func openNameless(beside path: FilePath) -> FileDescriptor? {
    // O_TMPFILE; a macro of macros, which Swift does not see.
    let temporary = FileDescriptor.OpenOptions(rawValue: 0o20_000_000)
    let file = try? FileDescriptor.open(
      path.removingLastComponent(), .readWrite, options: [temporary, .directory, .closeOnExec],
      permissions: permissions)
    guard let file else { return nil }
    if access(linkPath(of: file), F_OK) == 0 { return file }
    try? file.close()
    return nil
  }

  private static func linkPath(of file: FileDescriptor) -> String {
    "/proc/self/fd/\(file.rawValue)"
  }

  private static func give(_ file: FileDescriptor, _ path: FilePath) throws(TraceError) {
    let result = path.withPlatformString {
      linkat(AT_FDCWD, linkPath(of: file), AT_FDCWD, $0, AT_SYMLINK_FOLLOW)
    }
    guard result != 0 else { return }
    throw TraceError(.io, "cannot be put in its place: \(Errno(rawValue: errno))")
  }

  private static func move(_ part: FilePath, to target: TraceTarget) throws(CommandFailure) {
    let result = part.withPlatformString { from in
      target.path.withPlatformString { rename(from, $0) }
    }
    guard result != 0 else { return }
    throw CommandFailure(
      "cannot create \(target.name): \(Errno(rawValue: errno))",
      exitStatus: ExitStatus.cannotCreate)
  }

  /// A full disk on a network may show only here.
  private static func close(_ file: FileDescriptor) throws(TraceError) {
    do {
      try file.close()
    } catch {
      throw TraceError(.io, "cannot be written: \(error)")
    }
  }
}

extension FilePath {
  /// Removes the file, if there is one.
  func remove() {
    withPlatformString { _ = unlink($0) }
  }
}
