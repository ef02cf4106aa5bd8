import TraceReader

/// The storage of a deque of Swift: which of its slots are in use.
///
/// ```
/// +16 capacity     +24 count     +32 first slot in use     +40 slots
/// ```
/// The elements follow each other from the first slot in use on, and go on with slot 0 behind the last one. In the
/// others stands what `popFirst` took out, or what was in the memory before.
/// Source: `_DequeBufferHeader.swift` in `Sources/DequeModule` of swift-collections, and in
/// `stdlib/public/Concurrency/Deque` of the Swift repository.
public struct SwiftDeque {
  let capacity: UInt64
  let count: UInt64
  let firstSlot: UInt64

  /// Reads the header of a deque; nil where it says nothing that can be: in traces that do not keep it.
  ///
  /// - Parameters:
  ///   - address: Where the deque is.
  ///   - memory: Reads a word of the process; 0 where it is not known.
  public init?(at address: UInt64, _ memory: (UInt64) -> UInt64) {
    capacity = memory(address &+ 16)
    count = memory(address &+ 24)
    firstSlot = memory(address &+ 32)
    guard capacity > 0, capacity <= SwiftArray.greatestCapacity, count <= capacity,
      firstSlot <= capacity
    else { return nil }
  }

  /// Where the elements in use are.
  ///
  /// - Parameters:
  ///   - start: Where the slots begin, in bytes from the beginning.
  ///   - stride: How far they are from each other.
  ///   - size: How many bytes were requested for the deque.
  /// - Returns: nil where such slots cannot be what was requested.
  func elements(start: UInt64, stride: UInt64, size: UInt64) -> UsedElements? {
    guard stride > 0, stride <= SwiftArray.greatestStride, size > start,
      (size - start) % stride == 0
    else { return nil }
    let upToEnd = min(count, capacity - firstSlot)
    let first = start + firstSlot * stride
    return UsedElements(
      first..<first + upToEnd * stride, wrapped: start..<start + (count - upToEnd) * stride)
  }

  /// The number of an element of the deque by the number of its slot.
  public func index(ofSlot slot: UInt64) -> UInt64 {
    slot >= firstSlot ? slot - firstSlot : slot &+ capacity - firstSlot
  }
}
