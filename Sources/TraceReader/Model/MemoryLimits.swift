/// How much memory the traced process could have had.
public struct MemoryLimits: Hashable, Sendable {
  /// Physical memory of the machine; 0 when not known.
  public var ramBytes: UInt64
  /// `RLIMIT_AS`; nil when unlimited.
  public var addressSpaceBytes: UInt64?
  /// The memory limit of the cgroup; nil when there is none.
  public var cgroupBytes: UInt64?

  /// Creates limits from the fields of a header.
  public init(header: TraceHeader) {
    ramBytes = header.ramBytes
    addressSpaceBytes = Self.limit(header.addressSpaceLimitBytes)
    cgroupBytes = Self.limit(header.cgroupLimitBytes)
  }

  /// The least of the limits; nil when the trace knows none.
  public var availableBytes: UInt64? {
    [addressSpaceBytes, cgroupBytes, ramBytes == 0 ? nil : ramBytes].compactMap { $0 }.min()
  }

  private static func limit(_ value: UInt64) -> UInt64? {
    value == .max || value == 0 ? nil : value
  }
}
