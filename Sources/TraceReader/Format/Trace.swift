import SystemPackage

/// An opened trace: everything but its events, which are read when they are asked for.
public final class Trace: Sendable {
  public let header: TraceHeader
  public let process: TracedProcess
  public let clock: TraceClock
  public let images: ImageMap
  public let threads: [ThreadInfo]
  public let stacks: StackTable
  public let notes: [Note]
  public let marks: [Mark]
  public let coverage: Coverage
  public let ending: TraceEnding
  public let limits: MemoryLimits
  public let fileSize: UInt64

  /// Opens a trace.
  public init(path: FilePath) throws(TraceError) {
    throw TraceError(.io, "not implemented", path: path.string)
  }

  /// Visits all events in the merged order of the threads.
  public func forEachEvent(
    _ body: (_ index: UInt64, _ event: Event) -> Bool
  ) throws(TraceError) {}

  /// Replays the trace once.
  public func replay(_ options: ReplayOptions = ReplayOptions()) throws(TraceError) -> ReplayResult
  {
    ReplayResult()
  }

  /// The events of every block that contains an address, in order.
  public func history(
    of address: Address, options: ReplayOptions = ReplayOptions()
  ) throws(TraceError) -> [HistoryEntry] {
    []
  }
}
