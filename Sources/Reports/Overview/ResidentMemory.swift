/// How much of a process was in memory at once, whatever for, beside what its heap had.
///
/// `malloc` is not all: what a program maps itself, its stacks and its code are in memory, too, and what it
/// allocates without touching it is not.
struct ResidentMemory {
  /// The most bytes that were in memory at once.
  var peakBytes: UInt64
  /// The most bytes that were allocated at once.
  var heapPeakBytes: UInt64
  /// The most that images can have taken of it.
  var imageBytes: UInt64

  /// Whether most of it is neither of the heap nor of images, beyond what every process has of stacks and the like.
  var isMostlyOther: Bool {
    let known = heapPeakBytes.addingReportingOverflow(imageBytes)
    guard !known.overflow, peakBytes > known.partialValue else { return false }
    let other = peakBytes - known.partialValue
    return other >= Self.ordinary && other > peakBytes / 2
  }

  /// For a line of a page.
  ///
  /// - Parameter bytes: How sizes are written.
  /// - Returns: Without the label.
  func text(_ bytes: ByteStyle) -> String {
    let (whole, heap) = (bytes.withUnit(peakBytes), bytes.withUnit(heapPeakBytes))
    return heapPeakBytes > peakBytes
      ? "peak \(whole); of the heap's peak, \(heap), the rest was never touched, or swapped out"
      : "peak \(whole), with code and files; the heap's peak was \(heap)"
  }

  private static let ordinary: UInt64 = 16 << 20
}
