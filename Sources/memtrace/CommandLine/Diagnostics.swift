import ArgumentParser
import Reports
import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// What memtrace says about itself, on standard error, and how it ends.
enum Diagnostics {
  /// Writes one line, prefixed with the name of the tool.
  ///
  /// Control characters are written out: names of files and commands may hold anything.
  /// Goes around stdio, so that a closed or full standard error is no error of its own.
  static func write(_ line: String) {
    writeRaw(TextStyle.forStandardError().drawn("memtrace: \(line.printable)\n"))
  }

  /// Writes text to standard error as it is; what cannot be written is lost.
  static func writeRaw(_ text: String) {
    _ = try? FileDescriptor.standardError.writeAll(text.utf8)
  }

  /// Writes lines as they are, but for control characters.
  private static func writeLines(_ text: String) {
    guard !text.isEmpty else { return }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let page = lines.map(\.printable).joined(separator: "\n") + "\n"
    writeRaw(TextStyle.forStandardError().drawn(page))
  }

  /// Writes out what standard output still buffers.
  ///
  /// - Throws: ``CommandFailure`` when it cannot be written, for instance on a full disk: a
  ///   report that was cut must not look like success. A reader that went away is no failure
  ///   worth a message (`memtrace report x.mtrace | head`).
  static func finishOutput() throws {
    guard fflush(nil) != 0 else { return }
    let error = Errno(rawValue: errno)
    if error == .brokenPipe { throw ExitCode(ExitStatus.killed(by: SIGPIPE)) }
    throw CommandFailure("cannot write the output: \(error)", exitStatus: ExitStatus.ioError)
  }

  /// Ends memtrace: the one place where errors become exit statuses.
  static func exit(for error: any Error) -> Never {
    let failure = error as? CommandFailure ?? (error as? TraceError).map(CommandFailure.init)
    if let failure {
      fflush(nil)
      write(failure.description)
      Glibc.exit(failure.exitStatus)
    }
    widenHelp()
    let code = MemtraceCommand.exitCode(for: error)
    let message = MemtraceCommand.fullMessage(for: error)
    if code.isSuccess { writeHelp(message) } else { writeLines(message) }
    Glibc.exit(code.rawValue)
  }

  /// Writes what was asked for, to standard output; ends memtrace where that fails, as for reports.
  private static func writeHelp(_ text: String) {
    guard !text.isEmpty else { return }
    do {
      let page = TextStyle.forStandardOutput().drawn(text + "\n")
      try ReportOutput.withOutput(nil) { output in _ = try output.write(page) }
    } catch {
      exit(for: error)
    }
  }

  /// Keeps help at the least width of reports, whatever the terminal or `COLUMNS` says.
  ///
  /// The parser of arguments takes its width from there, and ends the process where the column of
  /// explanations does not fit. Only called when memtrace ends: nobody inherits the variable.
  private static func widenHelp() {
    let size = getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? TextStyle.terminalColumns
    guard let size, size < TextStyle.leastWidth else { return }
    setenv("COLUMNS", String(TextStyle.leastWidth), 1)
  }
}
