import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Chooses the file that a recording writes.
///
/// Nothing is ever overwritten unasked.
enum OutputNaming {
  static let fileExtension = "mtrace"
  /// Added to the name of a packed trace.
  static let packedExtension = "zst"

  /// Whether a file in a folder of traces can be one by its name.
  static func mayBeTrace(_ name: String) -> Bool {
    !name.contains(".") || isCalledTrace(name)
  }

  /// Whether a file is called as traces are.
  static func isCalledTrace(_ name: String) -> Bool {
    name.hasSuffix("." + fileExtension) || name.hasSuffix(".\(fileExtension).\(packedExtension)")
  }

  /// The name of a trace after packing: one that is to be written packed is recorded without the
  /// last extension first.
  static func packed(_ path: FilePath) -> FilePath {
    FilePath(path.string + "." + packedExtension)
  }

  /// `NAME.mtrace` in `directory`, or `NAME.2.mtrace`, `NAME.3.mtrace` … when that exists, packed
  /// or not.
  ///
  /// - Parameters:
  ///   - command: As typed; its last component gives the name.
  ///   - directory: Absolute.
  /// - Returns: An absolute path at which there is nothing yet.
  /// - Throws: ``CommandFailure`` when the directory cannot be written.
  static func defaultOutput(
    forCommand command: String, in directory: FilePath
  ) throws(CommandFailure) -> FilePath {
    try checkWritable(directory)
    var base = FilePath(command).lastComponent?.string ?? "trace"
    while base.utf8.count > longestBase { base.removeLast() }
    let first = directory.appending("\(base).\(fileExtension)")
    if first.isFree { return first }
    for number in 2..<1_000_000 {
      let candidate = directory.appending("\(base).\(number).\(fileExtension)")
      if candidate.isFree { return candidate }
    }
    throw CommandFailure(
      "\(directory) is full of traces of \(base); choose a name with -o",
      exitStatus: ExitStatus.cannotCreate)
  }

  /// Of the 255 bytes that the name of a file may have.
  private static let longestBase = 200

  /// The file that `-o` names, made absolute.
  ///
  /// Nothing is removed yet.
  ///
  /// - Parameters:
  ///   - name: As typed.
  ///   - force: Whether a trace that is there already may be replaced. Anything else stays: a
  ///     mistyped `-o` must not cost a user their data.
  /// - Returns: An absolute path at which there is nothing, or a trace that may be replaced.
  /// - Throws: ``CommandFailure`` when it exists or its directory cannot be written.
  static func explicitOutput(_ name: String, force: Bool) throws(CommandFailure) -> FilePath {
    guard !name.isEmpty else {
      throw CommandFailure("-o needs the name of a file", exitStatus: ExitStatus.usage)
    }
    // Everywhere else it means standard output; a file of that name is in everybody's way.
    guard name != "-", name != "-.\(packedExtension)" else {
      throw CommandFailure(
        "traces are not written to standard output; -o needs the name of a file",
        exitStatus: ExitStatus.usage)
    }
    // `FilePath` drops the slash, and a file would stand where the user expects a folder.
    guard !name.hasSuffix("/") else { throw isFolder(name, exitStatus: ExitStatus.usage) }
    let path = FilePath(argument: name).absolute
    try checkReplaceable(path, shownAs: name, force: force)
    try checkWritable(path.removingLastComponent())
    return path
  }

  /// What is wrong with the name of a folder, with a slash at its end.
  private static func isFolder(_ name: String, exitStatus: Int32) -> CommandFailure {
    CommandFailure(
      "\(name) is the name of a folder; -o needs that of a file, such as "
        + "\(name)trace.\(fileExtension)",
      exitStatus: exitStatus)
  }

  /// Checks that nothing is lost when a file is put at a path.
  ///
  /// - Throws: ``CommandFailure`` when there is something that may not be replaced.
  static func checkReplaceable(
    _ path: FilePath, shownAs name: String, force: Bool
  ) throws(CommandFailure) {
    guard path.exists else { return }
    guard (try? FileStatus(of: path))?.isDirectory != true else {
      throw isFolder("\(name)/", exitStatus: ExitStatus.cannotCreate)
    }
    guard TraceFileHeader(readingFrom: path) != nil else {
      throw CommandFailure(
        "\(name) exists and is no trace; choose another name (--force replaces traces only)",
        exitStatus: ExitStatus.cannotCreate)
    }
    guard force else {
      throw CommandFailure(
        "\(name) exists; choose another name, or replace it with --force",
        exitStatus: ExitStatus.cannotCreate)
    }
  }

  /// Checks that the runs put into a folder will be all that it holds, for whoever compares them.
  ///
  /// - Throws: ``CommandFailure`` when there are traces already.
  static func checkHasNoTraces(
    _ folder: FilePath, shownAs name: String
  ) throws(CommandFailure) {
    let isTaken = folder.directoryEntries.contains { entry in
      mayBeTrace(entry) && TraceFileHeader.isTrace(folder.appending(entry))
    }
    guard isTaken else { return }
    throw CommandFailure(
      "\(name) holds traces already, which would count among the runs; choose another folder",
      exitStatus: ExitStatus.cannotCreate)
  }

  /// Removes what ``explicitOutput(_:force:)`` found replaceable.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be removed.
  static func removeReplaced(_ path: FilePath) throws(CommandFailure) {
    guard path.exists, path.withPlatformString({ unlink($0) }) != 0 else { return }
    throw CommandFailure(
      "cannot replace \(path): \(Errno(rawValue: errno))", exitStatus: ExitStatus.cannotCreate)
  }

  private static func checkWritable(_ directory: FilePath) throws(CommandFailure) {
    do throws(Errno) {
      // A working directory that was removed has no path; it can be looked at all the same.
      guard directory.isAbsolute else { throw Errno.noSuchFileOrDirectory }
      try directory.checkIsWritableFolder()
    } catch {
      throw CommandFailure(
        "cannot create a trace in \(directory): \(error); choose another place with -o",
        exitStatus: ExitStatus.cannotCreate)
    }
  }
}

extension FilePath {
  /// Whether there is neither a trace at this path nor a packed one that belongs to it.
  fileprivate var isFree: Bool { !exists && !OutputNaming.packed(self).exists }
}
