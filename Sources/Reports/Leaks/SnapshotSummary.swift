import TraceReader

/// Which snapshot a report is about.
public struct SnapshotSummary: Sendable, Hashable, Encodable {
  /// Its position among the snapshots of the trace.
  public var index: Int
  /// When it was taken, nanoseconds since the recording began.
  public var timeNanoseconds: UInt64
  /// Why it was taken, in words: `at exit with status 0`.
  public var reason: String
  /// Whether all of it is there.
  public var isComplete: Bool
  /// How long the threads stood still.
  public var pauseNanoseconds: UInt64
  /// How long taking it took.
  public var durationNanoseconds: UInt64
  /// The bytes of it in the trace.
  public var storedBytes: UInt64
  /// Threads that went on while the image was made.
  public var movingThreads: Int

  /// Describes a snapshot.
  init(_ info: SnapshotInfo, clock: TraceClock) {
    index = info.index
    timeNanoseconds = clock.nanoseconds(info.time)
    reason = Self.text(info.reason)
    isComplete = info.isComplete
    pauseNanoseconds = info.pauseNanoseconds
    durationNanoseconds = info.durationNanoseconds
    storedBytes = info.storedBytes
    movingThreads = info.threads.count { !$0.stoodStill }
  }

  private static func text(_ reason: SnapshotReason) -> String {
    switch reason {
    case .exit(let status): "at exit with status \(status)"
    case .underscoreExit(let status): "at _exit with status \(status)"
    case .quickExit(let status): "at quick_exit with status \(status)"
    case .abort: "at abort()"
    case .signal(let number): "at signal \(number)\(SignalText.suffix(of: number))"
    case .request: "when asked for"
    case .mark(let name): "at the mark \"\(name.printable)\""
    case .interval: "at an interval"
    case .program(let name):
      name.isEmpty ? "when the program asked" : "when the program asked (\"\(name.printable)\")"
    case .unknown(let code): "for reason \(code)"
    }
  }

  /// What makes conclusions from it doubtful.
  var warnings: [String] {
    var warnings: [String] = []
    if !isComplete {
      warnings.append(
        "the snapshot was cut off: what its missing part points to counts as leaked")
    }
    if movingThreads > 0 {
      let threads = CountText.of(UInt64(movingThreads), "thread")
      warnings.append(
        "\(threads) could not be stopped for the snapshot: what only their registers held counts "
          + "as leaked")
    }
    return warnings
  }
}
