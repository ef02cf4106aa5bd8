import Reports
import TraceReader

/// A snapshot that was just taken, in one line.
struct SnapshotLine {
  let text: String

  /// - Throws: ``CommandFailure`` when the snapshot is not whole, ``TraceError`` when the trace cannot
  ///   be read.
  init(_ number: Int, of recording: RunningRecording) throws {
    let trace = try Trace(path: recording.path)
    guard trace.snapshots.indices.contains(number), trace.snapshots[number].isComplete else {
      throw CommandFailure(
        "snapshot \(number) of process \(recording.pid) is not whole: its disk may be full, or the "
          + "trace as large as it may be (--max-size)",
        exitStatus: ExitStatus.ioError)
    }
    let snapshot = trace.snapshots[number]
    let size = ByteStyle.human.format(snapshot.storedBytes)
    text =
      "snapshot \(number) of process \(recording.pid): \(size) in \(recording.path), "
      + "threads stood still for \(Self.milliseconds(snapshot.pauseNanoseconds)) ms, "
      + "written in \(Self.milliseconds(snapshot.durationNanoseconds)) ms"
  }

  private static func milliseconds(_ nanoseconds: UInt64) -> String {
    let tenths = (nanoseconds &+ 50_000) / 100_000
    return "\(tenths / 10).\(tenths % 10)"
  }
}
