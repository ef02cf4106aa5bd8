extension SnapshotMemory {
  /// The part of a block that is in use, when the block is a slab of a Swift task.
  ///
  /// ```
  /// +0  a variable of the runtime     +8  the next slab
  /// +16 u32 capacity, u32 in use      +32 capacity bytes, of which the first are in use
  /// ```
  /// A slab stays with its task, which fills and empties it like a stack: behind what is in use
  /// stand the frames of functions that have returned.
  /// Source: `stdlib/public/runtime/StackAllocator.h` of the Swift repository.
  ///
  /// - Parameters:
  ///   - address: The beginning of the block.
  ///   - size: Its requested bytes.
  /// - Returns: The bytes from the beginning of the block; nil where it is no slab, or has another
  ///   form than this one.
  public func usedSizeOfTaskSlab(at address: UInt64, size: UInt64) -> UInt64? {
    guard taskSlab != 0, word(at: address) == taskSlab else { return nil }
    let use = word(at: address &+ 16)
    let (capacity, used) = (use & 0xffff_ffff, use >> 32)
    let isKnown = capacity > 0 && used <= capacity && used & 15 == 0
    guard isKnown, Self.slabHeader + capacity <= size else { return nil }
    return Self.slabHeader + used
  }

  private static let slabHeader: UInt64 = 32

  /// Where in a slab nothing stands, between what describes it and the first frame: what was there before.
  public static let gapInTaskSlab: UInt64 = 24
}
