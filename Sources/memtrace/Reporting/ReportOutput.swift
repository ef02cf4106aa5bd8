import ArgumentParser
import Reports
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The file or standard output that a report is written to.
struct ReportOutput {
  private let descriptor: FileDescriptor
  private let name: String

  /// Looks whether a file can be written, as far as that can be told without opening or making it.
  ///
  /// - Parameter file: nil for standard output.
  /// - Throws: ``CommandFailure``, as ``withOutput(_:appends:_:)`` would.
  static func checkCanBeWritten(_ file: String?) throws(CommandFailure) {
    guard let file else { return }
    guard !file.isEmpty else {
      throw CommandFailure("-o needs the name of a file", exitStatus: ExitStatus.usage)
    }
    let path = FilePath(argument: file)
    try checkIsNoTrace(path, shownAs: file)
    do throws(Errno) {
      try checkCanBeWritten(path)
    } catch {
      throw cannotWrite(file, error)
    }
  }

  private static func checkCanBeWritten(_ path: FilePath) throws(Errno) {
    guard let status = try? FileStatus(of: path) else {
      let folder = path.removingLastComponent()
      return try (folder.isEmpty ? "." : folder).checkIsWritableFolder()
    }
    guard !status.isDirectory else { throw Errno.isDirectory }
    let isWritable = path.withPlatformString { faccessat(AT_FDCWD, $0, W_OK, AT_EACCESS) == 0 }
    guard isWritable else { throw Errno(rawValue: errno) }
  }

  /// A report must not eat a trace, its own above all, by a slip of the keyboard.
  private static func checkIsNoTrace(
    _ path: FilePath, shownAs name: String
  ) throws(CommandFailure) {
    guard TraceFileHeader.isTrace(path) else { return }
    throw CommandFailure(
      "\(name) is a trace; give another file to -o", exitStatus: ExitStatus.cannotCreate)
  }

  private static func cannotWrite(_ file: String, _ error: any Error) -> CommandFailure {
    CommandFailure("cannot write \(file): \(error)", exitStatus: ExitStatus.cannotCreate)
  }

  /// Opens the output, hands it to `body`, and closes it.
  ///
  /// - Parameters:
  ///   - file: nil for standard output.
  ///   - appends: Whether what is in the file stays.
  ///   - body: Writes the report.
  /// - Throws: ``CommandFailure`` when the file cannot be written, and what `body` throws.
  static func withOutput(
    _ file: String?, appends: Bool = false, _ body: (ReportOutput) throws -> Void
  ) throws {
    FileSizeLimit.letWritesFail()
    guard let file else {
      try body(ReportOutput(descriptor: .standardOutput, name: "standard output"))
      return
    }
    let path = FilePath(argument: file)
    // Again: the command may have left a trace there.
    try checkIsNoTrace(path, shownAs: file)
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.open(
        path, .writeOnly, options: [.create, appends ? .append : .truncate, .closeOnExec],
        permissions: [.ownerReadWrite, .groupReadWrite, .otherReadWrite])
    } catch {
      throw cannotWrite(file, error)
    }
    defer { try? descriptor.close() }
    try body(ReportOutput(descriptor: descriptor, name: file))
  }

  /// Writes text.
  ///
  /// - Returns: Always true, for callers that can be told to stop.
  /// - Throws: `ExitCode` without a message when the reader went away (`| head`),
  ///   ``CommandFailure`` when writing failed.
  func write(_ text: String) throws -> Bool {
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    return true
  }

  /// Writes bytes.
  ///
  /// - Throws: As ``write(_:)-(String)``.
  func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes(write)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    do {
      _ = try descriptor.writeAll(bytes)
    } catch let error as Errno where error == .brokenPipe {
      throw ExitCode(ExitStatus.killed(by: SIGPIPE))
    } catch {
      throw CommandFailure("cannot write \(name): \(error)", exitStatus: ExitStatus.ioError)
    }
  }
}

extension OutputChoice {
  /// The style of the text form: a terminal's only when it goes there.
  var style: TextStyle {
    let style: ByteStyle = destination.bytes ? .exact : .human
    return output == nil ? .forStandardOutput(bytes: style) : TextStyle(bytes: style)
  }
}
