import TraceReader

/// What lies in containers of `Any` and `any P`.
///
/// ```
/// +0 the value, or a box with it, in up to three words    +24 its metadata    +32 witness tables
/// ```
/// An object takes the first word, and so does a box. The other two keep what was there, perhaps the
/// rest of a value that the container held before.
/// Source: `OpaqueExistentialContainer` and `TargetGenericBoxHeapMetadata` in
/// `include/swift/ABI/Metadata.h` of the Swift repository.
extension ObjectLayout {
  /// Whether a word of a block lies behind an object or a box in a container.
  func isBehindReference(
    _ offset: UInt64, ofBlockAt address: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    existentialOffsets.contains { container in
      guard offset >= container, offset &- container == 8 || offset &- container == 16 else {
        return false
      }
      let place = address &+ container
      let (object, metadata) = (memory.word(at: place), memory.word(at: place &+ 24))
      guard metadata != 0, object != 0 else { return false }
      return Self.isClass(metadata, ofObjectAt: object, memory)
        || Self.isContent(metadata, ofBoxAt: object, memory)
    }
  }

  /// Whether metadata are those of the value in a box that the runtime has made, whose own metadata
  /// name them 16 bytes from their beginning.
  ///
  /// Those of a box that the compiler has made tell the type by its name only.
  private static func isContent(
    _ metadata: UInt64, ofBoxAt box: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    let known = memory.word(at: box)
    return known != 0 && memory.word(at: known &+ 16) == metadata
  }

  /// Whether metadata are those of an object's class or of one of its superclasses: a value of
  /// another kind may have the same address in its first word, but not these metadata.
  private static func isClass(
    _ metadata: UInt64, ofObjectAt object: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    var known = memory.word(at: object)
    for _ in 0..<deepestClass where known != 0 {
      if known == metadata { return true }
      known = memory.word(at: known &+ 8)
    }
    return false
  }

  /// More superclasses than this has no class.
  private static let deepestClass = 32
}
