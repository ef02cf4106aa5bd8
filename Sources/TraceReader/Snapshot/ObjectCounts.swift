/// How many references of each kind a Swift object has, as it stood in a snapshot.
///
/// ```
/// object      +0 metadata   +8 counts, or side table >> 3 with bits 63 and 62 set
/// side table  +0 object     +16 counts   +24 weak references + 1, 32 bits
/// counts      bit 0 1   1-31 unowned   32 being taken down   33-62 strong   63 0
/// ```
/// Of the strong references one is not counted until the last one is gone, of the unowned ones one
/// is the object's own until then.
///
/// Source: `stdlib/public/SwiftShims/swift/shims/RefCount.h` of the Swift repository.
public struct ObjectCounts: Hashable, Sendable, Encodable {
  /// Strong references.
  public var strong: UInt64
  /// Unowned references.
  public var unowned: UInt64
  /// Weak references.
  public var weak: UInt64
  /// Whether the last strong reference is gone: what is left waits for the unowned ones.
  public var isTakenDown = false

  /// Makes counts from their parts.
  public init(strong: UInt64, unowned: UInt64, weak: UInt64, isTakenDown: Bool = false) {
    self.strong = strong
    self.unowned = unowned
    self.weak = weak
    self.isTakenDown = isTakenDown
  }

  /// Reads the counts of the object at an address.
  ///
  /// - Returns: nil where none is there, where it is not counted because it lives for ever, and
  ///   where the words are not in the snapshot.
  public init?(at address: UInt64, in memory: SnapshotMemory) {
    let metadata = memory.word(at: address)
    guard metadata != 0, metadata & 7 == 0, memory.isMapped(metadata) else { return nil }
    var bits = memory.word(at: address &+ 8)
    weak = 0
    if bits >> 62 == 3 {
      let table = bits << 3
      guard memory.word(at: table) == address else { return nil }
      bits = memory.word(at: table &+ 16)
      let references = memory.word(at: table &+ 24) & 0xffff_ffff
      guard references > 0 else { return nil }
      weak = references - 1
    }
    let ownReference = bits >> 1 & 0x7fff_ffff
    guard bits & 1 == 1, bits >> 63 == 0, ownReference > 0 else { return nil }
    isTakenDown = bits >> 32 & 1 == 1
    strong = (bits >> 33) + (isTakenDown ? 0 : 1)
    unowned = ownReference - (isTakenDown ? 0 : 1)
  }

  /// `strong 1, unowned 0, weak 2`, `strong 0, unowned 1, weak 0, deinitialized`.
  public var text: String {
    "strong \(strong), unowned \(unowned), weak \(weak)" + (isTakenDown ? ", deinitialized" : "")
  }
}
