import ArgumentParser
import Reports
import SystemPackage
import TraceReader

/// `memtrace snapshot`: asks a running process for a heap snapshot.
struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Take a heap snapshot of a running process that is being recorded.",
    usage: "memtrace snapshot PID [--timeout SECONDS]",
    discussion: """
      The process must have been started with 'memtrace record --snapshot-on-request'. Its threads \
      stand still for some milliseconds; the snapshot is written into its trace while it goes on. \
      A call such as poll or sleep that the process waits in may be interrupted (EINTR).

      Examples:
        memtrace record --snapshot-on-request -- ./server &
        memtrace snapshot $(pidof server)
      """)

  @Argument(help: ArgumentHelp("The process ID.", valueName: "pid"))
  var pid: Int32

  @Option(help: ArgumentHelp("Wait at most so long for the snapshot.", valueName: "seconds"))
  var timeout = 60

  mutating func validate() throws {
    guard pid > 0 else { throw ValidationError("PID is a number above 0, not \(pid).") }
    guard timeout > 0 else { throw ValidationError("--timeout is a number above 0.") }
  }

  func run() throws {
    let recording = try RunningRecording(pid: pid)
    let number = try recording.takeSnapshot(timeout: .seconds(timeout))
    print(try line(of: number, in: recording.path))
  }

  private func line(of number: Int, in path: FilePath) throws -> String {
    let trace = try Trace(path: path)
    guard trace.snapshots.indices.contains(number), trace.snapshots[number].isComplete else {
      throw CommandFailure(
        "snapshot \(number) of process \(pid) is not whole; is the disk full?",
        exitStatus: ExitStatus.ioError)
    }
    let snapshot = trace.snapshots[number]
    let size = ByteStyle.human.format(snapshot.storedBytes)
    return "snapshot \(number) of process \(pid): \(size) in \(path), "
      + "threads stood still for \(milliseconds(snapshot.pauseNanoseconds)) ms, "
      + "written in \(milliseconds(snapshot.durationNanoseconds)) ms"
  }

  private func milliseconds(_ nanoseconds: UInt64) -> String {
    let tenths = (nanoseconds &+ 50_000) / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
