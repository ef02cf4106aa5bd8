import ArgumentParser
import CTraceFormat
import Reports
import SystemPackage
import TraceReader

/// `memtrace mark`: names this moment of a running process.
struct MarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark",
    abstract: "Name this moment in the trace of a running process that is being recorded.",
    usage: "memtrace mark PID NAME [--snapshot] [--trace FILE]",
    discussion: """
      Reports take the name where they take a time, and 'memtrace generations' shows what grew from \
      one mark to the next. The mark is written into the trace by memtrace: the process is neither \
      stopped nor told, and may have been recorded with any options.

      With --snapshot the process takes a heap snapshot of that name as well, for which it must \
      have been started with 'memtrace record --snapshot-on-request'.

      Examples:
        memtrace record -- ./server &
        memtrace mark $(pidof server) "after warm-up"
        memtrace mark $(pidof server) "after request" --snapshot
        memtrace generations server.mtrace
      """)

  /// As many seconds as `snapshot` waits.
  private static let standardTimeout = 60

  @OptionGroup var process: RunningProcessOptions

  @Argument(help: ArgumentHelp("What this moment is called.", valueName: "name"))
  var name: String

  @Flag(help: "Take a heap snapshot as well.")
  var snapshot = false

  @Option(
    help: ArgumentHelp(
      "With --snapshot: wait at most so long for it. (default: \(Self.standardTimeout))",
      valueName: "seconds"))
  var timeout: Int?

  mutating func validate() throws {
    guard !name.isEmpty, name.utf8.count < Int(MT_ASKED_NAME_SIZE) else {
      throw ValidationError("NAME has 1 to 1023 bytes, not \(name.utf8.count).")
    }
    guard let timeout else { return }
    guard snapshot else { throw ValidationError("--timeout goes with --snapshot.") }
    guard timeout > 0 else { throw ValidationError("--timeout is a number above 0.") }
  }

  func run() throws {
    let recording = try process.recording(options: snapshot ? " --snapshot-on-request" : "")
    if snapshot { try recording.checkRequests() }
    let time = try recording.addMark(name)
    let number =
      snapshot
      ? try recording.takeSnapshot(
        named: name, timeout: .seconds(timeout ?? Self.standardTimeout)) : nil
    print(
      try "mark \"\(name.printable)\" of process \(recording.pid) at "
        + "\(recording.timestamp(time)) in \(recording.path)")
    if let number { print(try SnapshotLine(number, of: recording).text) }
  }
}
