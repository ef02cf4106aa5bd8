import TraceReader

/// How much memory the program mapped itself, at the end.
public struct MappedSum: Sendable, Hashable, Encodable {
  /// Bytes that are mapped.
  public var persistentBytes: UInt64
  /// Of these, those that nobody may touch.
  public var reservedBytes: UInt64
  /// How many mappings there are.
  public var persistentCount: UInt64
  /// The most bytes that were mapped at once and could be touched.
  public var peakBytes: UInt64

  /// Sums up the mappings of a trace; nil where they were not recorded.
  public init?(_ trace: Trace) {
    guard trace.recordsMappings else { return nil }
    let history = trace.mappings()
    let live = history.mappings.filter { $0.liveBytes > 0 }
    persistentBytes = history.liveBytes
    reservedBytes = live.reduce(0) { $0 &+ $1.reservedBytes }
    persistentCount = UInt64(live.count)
    peakBytes = history.peakBytes
  }

  /// Bytes that are mapped and can be touched.
  public var usableBytes: UInt64 { persistentBytes &- reservedBytes }

  /// What is said where mappings were not recorded.
  package static let notRecordedText =
    "mapped memory was not recorded: record with --mappings, or MEMTRACE_MAPPINGS=1"

  /// `3.11 MiB in 8 mappings, peak 3.12 MiB, besides 1.00 GiB of reserved addresses`.
  func text(_ bytes: ByteStyle) -> String {
    let used = bytes.format(usableBytes)
    let text =
      "\(used) in \(CountText.of(persistentCount, "mapping")), peak \(bytes.format(peakBytes))"
    guard reservedBytes > 0 else { return text }
    return "\(text), besides \(bytes.format(reservedBytes)) of reserved addresses"
  }
}
