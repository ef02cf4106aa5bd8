import TraceReader

/// What lies in containers of `Any` and `any P`.
///
/// ```
/// +0 the value, or a box with it, in up to three words    +24 its metadata    +32 witness tables
/// ```
/// An object takes the first word. The other two keep what was there, perhaps the rest of a value
/// that the container held before.
/// Source: `OpaqueExistentialContainer` in `include/swift/ABI/Metadata.h` of the Swift repository.
extension ObjectLayout {
  /// Whether a word of a block lies behind an object in a container.
  func isBehindReference(
    _ offset: UInt64, ofBlockAt address: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    existentialOffsets.contains { container in
      guard offset >= container, offset &- container == 8 || offset &- container == 16 else {
        return false
      }
      let place = address &+ container
      return Self.isClass(
        memory.word(at: place &+ 24), ofObjectAt: memory.word(at: place), memory)
    }
  }

  /// Whether metadata are those of an object's class or of one of its superclasses: a value of
  /// another kind may have the same address in its first word, but not these metadata.
  private static func isClass(
    _ metadata: UInt64, ofObjectAt object: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    guard metadata != 0, object != 0 else { return false }
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
