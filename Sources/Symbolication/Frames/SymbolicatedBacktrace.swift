import TraceReader

/// A backtrace with names, leaf first.
public struct SymbolicatedBacktrace: Sendable, Hashable {
  /// The backtrace in the trace's stack table.
  public let stack: StackID

  /// All frames, inlined ones included, leaf first; never empty.
  ///
  /// A marker is last where the stack was cut, and alone where none was taken.
  public let frames: [SymbolicatedFrame]

  /// Makes a backtrace.
  public init(stack: StackID, frames: [SymbolicatedFrame]) {
    self.stack = stack
    self.frames = frames.isEmpty ? [SymbolicatedFrame(marker: "<no stack>")] : frames
  }

  /// How many of the leading frames belong to allocators and runtimes and need not be shown.
  ///
  /// 0 where nothing would be left.
  public var foldedCount: Int {
    let leading = frames.prefix { $0.role == .runtime }.count
    return leading < frames.count && frames[leading].role != .marker ? leading : 0
  }

  /// The frames to print.
  ///
  /// - Parameter showAll: Whether to keep the leading frames of allocators and runtimes.
  /// - Returns: Leaf first; never empty.
  public func displayFrames(showAll: Bool = false) -> ArraySlice<SymbolicatedFrame> {
    frames.dropFirst(showAll ? 0 : foldedCount)
  }

  /// The frame that a report blames; `nil` where there is no frame at all.
  public var responsibleFrame: SymbolicatedFrame? {
    ResponsibleFrame.find(in: frames)
  }
}
