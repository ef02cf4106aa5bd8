import ArgumentParser
import TraceReader

/// `memtrace snapshot`: asks a running process for a heap snapshot.
struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Take a heap snapshot of a running process that is being recorded.",
    usage: "memtrace snapshot PID [--timeout SECONDS] [--trace FILE]",
    discussion: """
      The process must have been started with 'memtrace record --snapshot-on-request'. Its threads \
      stand still for some milliseconds; the snapshot is written into its trace while it goes on. \
      On x86_64 calls that they wait in go on afterwards; elsewhere some may fail with EINTR.

      Examples:
        memtrace record --snapshot-on-request -- ./server &
        memtrace snapshot $(pidof server)
      """)

  @OptionGroup var process: RunningProcessOptions

  @Option(help: ArgumentHelp("Wait at most so long for the snapshot.", valueName: "seconds"))
  var timeout = 60

  mutating func validate() throws {
    guard timeout > 0 else { throw ValidationError("--timeout is a number above 0.") }
  }

  func run() throws {
    let recording = try process.recording(options: " --snapshot-on-request")
    let number = try recording.takeSnapshot(timeout: .seconds(timeout))
    print(try SnapshotLine(number, of: recording).text)
  }
}
