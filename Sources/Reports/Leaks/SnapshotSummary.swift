import LeakAnalysis
import TraceReader

/// Which snapshot a report is about.
public struct SnapshotSummary: Sendable, Hashable, Encodable {
  /// Its position among the snapshots of the trace.
  public var index: Int
  /// When it was taken, nanoseconds since the recording began.
  public var timeNanoseconds: UInt64
  /// Why it was taken, in words: `at exit with status 0`.
  public var reason: String
  /// Why it was taken: `exit`, `abort`, `signal`, `request`, `mark`, `interval`, `program`, `other`.
  public var kind: String
  /// The name of the mark, or that the program gave; nil without one.
  public var name: String?
  /// Whether all of it is there.
  public var isComplete: Bool
  /// How long the threads stood still.
  public var pauseNanoseconds: UInt64
  /// Of this, how long the kernel took to copy the process.
  public var forkNanoseconds: UInt64
  /// How long taking it took.
  public var durationNanoseconds: UInt64
  /// The bytes of it in the trace.
  public var storedBytes: UInt64
  /// Threads that went on while the image was made.
  public var movingThreads: Int
  /// Bytes of writable memory that could not be read.
  public var skippedBytes: UInt64
  /// Words that should be there and could not be read; nil when none are known to be.
  public var missingWords: UInt64?
  /// Parts of its memory that could not be read, because the file is damaged; nil without any.
  public var damagedParts: Int?
  /// True where there is no memory for all of its words; nil elsewhere.
  public var exceedsMemory: Bool?
  /// Slabs of GLib's slice allocator, which hide leaks; nil without any.
  public var slices: BlockSum?

  /// Describes a snapshot and what of its memory could be read.
  init(_ heap: HeapImage, clock: TraceClock) {
    self.init(heap.info, clock: clock)
    missingWords = heap.missingWords > 0 ? heap.missingWords : nil
    damagedParts = heap.memory.damagedRuns > 0 ? heap.memory.damagedRuns : nil
    exceedsMemory = heap.memory.exceedsMemory ? true : nil
    let slices = heap.slices.reduce(into: BlockSum()) { $0.add(heap.blocks.size(of: $1)) }
    self.slices = slices.count > 0 ? slices : nil
  }

  /// Describes a snapshot.
  init(_ info: SnapshotInfo, clock: TraceClock) {
    index = info.index
    timeNanoseconds = clock.nanoseconds(info.time)
    reason = Self.text(info.reason)
    kind = Self.kind(info.reason)
    name = info.reason.name
    isComplete = info.isComplete
    pauseNanoseconds = info.pauseNanoseconds
    forkNanoseconds = info.forkNanoseconds
    durationNanoseconds = info.durationNanoseconds
    storedBytes = info.storedBytes
    movingThreads = info.threads.count { !$0.stoodStill }
    skippedBytes = info.skippedBytes
  }

  private static func kind(_ reason: SnapshotReason) -> String {
    switch reason {
    case .exit, .underscoreExit, .quickExit: "exit"
    case .abort: "abort"
    case .signal: "signal"
    case .request: "request"
    case .mark: "mark"
    case .interval: "interval"
    case .program: "program"
    case .unknown: "other"
    }
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

  /// Whether it was taken when the process was about to end.
  var isAtEnd: Bool { ["exit", "abort", "signal"].contains(kind) }

  /// When it was taken, for conclusions that hold for that moment only: ` at the snapshot at
  /// 00:01.000.000 (when asked for)`; empty for a whole one at the end, with all threads still.
  var qualification: String {
    if isAtEnd && warnings.isEmpty { return "" }
    return " at the snapshot at \(TimeText.timestamp(timeNanoseconds)) (\(reason))"
  }

  /// Whether nothing of the memory that it was to hold is known to be missing.
  var coversAll: Bool { isComplete && movingThreads == 0 && skippedBytes == 0 }

  /// What is missing, in few words.
  func coverageText(_ bytes: ByteStyle) -> String {
    var parts: [String] = []
    if !isComplete { parts.append("cut off") }
    if movingThreads > 0 {
      parts.append("\(CountText.of(UInt64(movingThreads), "thread")) not stopped")
    }
    if skippedBytes > 0 { parts.append("\(bytes.format(skippedBytes)) not read") }
    return parts.isEmpty ? "complete" : parts.joined(separator: ", ")
  }

  /// What it cannot show, and how another recording would; nil where there is no such thing.
  var remark: String? {
    slices.map { slices in
      "\(CountText.of(slices.count, "slab")) of GLib's slices "
        + "(\(ByteStyle.human.format(slices.bytes))) may hide leaks: what lies in one, and what that "
        + "leads to, counts as held. Record with G_SLICE=always-malloc to find these."
    }
  }

  /// The same for the gate, alike for all processes; nil where there is no such thing.
  package var slicesWarning: String? {
    slices.map { _ in
      "slices of GLib may hide leaks: what lies in one, and what that leads to, counts as held; "
        + "set G_SLICE=always-malloc to find these"
    }
  }

  /// What makes conclusions from it doubtful.
  package var warnings: [String] {
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
    if skippedBytes > 0 {
      warnings.append(
        "\(ByteStyle.human.format(skippedBytes)) of memory could not be read: what only it points to "
          + "counts as leaked")
    }
    if exceedsMemory != nil {
      warnings.append(
        "the snapshot has more words than this machine has memory for: what the others point to "
          + "counts as leaked")
    } else if let missingWords {
      let words = CountText.of(missingWords, "word")
      warnings.append(
        "\(words) of the snapshot could not be read: what they point to counts as leaked")
    } else if damagedParts != nil {
      warnings.append(
        "a part of the snapshot could not be read: what it points to counts as leaked")
    }
    return warnings
  }
}
