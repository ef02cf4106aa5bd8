import TraceReader

/// The storage of a dictionary or a set of Swift: which of its buckets are in use.
///
/// ```
/// +16 count          +24 capacity     +32 scale (8 bits): 2^scale buckets     +40 seed
/// +48 keys           +56 values (dictionaries only)
/// a bit for each bucket, the keys or elements, the values
/// ```
/// Buckets that are not in use hold what was in the memory before. A bit is set before its bucket is
/// filled, and cleared after it is emptied.
/// Source: `DictionaryStorage.swift`, `SetStorage.swift` and `HashTable.swift` in
/// `stdlib/public/core` of the Swift repository.
public struct SwiftTable {
  /// Of dictionaries or of sets.
  public enum Form: Sendable {
    /// With values.
    case dictionary
    /// Without values.
    case set

    fileprivate var headerSize: UInt64 { self == .dictionary ? 64 : 56 }
  }

  private let bits: UInt64
  private let bucketCount: UInt64
  /// The keys, or the elements of a set.
  private let keys: Range<UInt64>
  /// The values, up to the end of the block.
  private let values: Range<UInt64>
  /// How far keys are from each other, which is known up to the bytes that align the values.
  private let keyStrides: ClosedRange<UInt64>
  let valueStride: UInt64

  /// Where the seed of the hash values is, which is the table's own address.
  ///
  /// Source: `_seed` in `stdlib/public/core/DictionaryStorage.swift` and `SetStorage.swift`.
  static let seedOffset: UInt64 = 40

  /// Reads the header of a table.
  ///
  /// - Returns: nil where it says nothing that can be: in traces that do not keep it.
  public init?(_ form: Form, at address: UInt64, size: UInt64, _ memory: SnapshotMemory) {
    let scale = memory.word(at: address &+ 32) & 0xff
    let first = memory.word(at: address &+ 48)
    let second = memory.word(at: address &+ 56)
    guard scale > 0, scale <= Self.greatestScale else { return nil }
    bucketCount = 1 << scale
    bits = address &+ form.headerSize
    let end = address &+ size
    let bitsEnd = bits &+ max(8, bucketCount / 8)
    guard first >= bitsEnd, first - bitsEnd < Self.greatestAlignment, first <= end else {
      return nil
    }
    let last = form == .dictionary ? second : end
    guard last >= first, last <= end, (end - last) % bucketCount == 0 else { return nil }
    (keys, values) = (first..<last, last..<end)
    valueStride = (end - last) / bucketCount
    let alignment =
      valueStride == 0 ? 1 : min(valueStride & (~valueStride &+ 1), Self.greatestAlignment)
    let length = last - first
    let least = length - min(length, alignment - 1)
    let greatestStride = length / bucketCount
    let leastStride = least / bucketCount + (least % bucketCount == 0 ? 0 : 1)
    keyStrides = min(greatestStride, leastStride)...greatestStride
  }

  private static let greatestScale: UInt64 = 40
  private static let greatestAlignment: UInt64 = 16
  private static let addressSize: UInt64 = 8

  /// Whether a word of the table can hold something: where it belongs to a bucket that is in use, or stands in front of
  /// them.
  ///
  /// What is smaller than an address is none: a few such keys or values may have a word to themselves that is mostly
  /// what was there before.
  func isInUse(_ address: UInt64, _ memory: SnapshotMemory) -> Bool {
    if values.contains(address) {
      return valueStride >= Self.addressSize
        && isUsed((address - values.lowerBound) / valueStride, memory)
    }
    guard keys.contains(address) else { return true }
    guard keyStrides.upperBound >= Self.addressSize else { return false }
    guard keyStrides.lowerBound > 0 else { return true }
    let offset = address - keys.lowerBound
    let last = min(bucketCount - 1, offset / keyStrides.lowerBound)
    let first = min(last, offset / keyStrides.upperBound)
    return (first...last).contains { isUsed($0, memory) }
  }

  /// Whether a word of the table belongs to a key, or to an element of a set.
  func isKey(_ address: UInt64) -> Bool { keys.contains(address) }

  /// What a word of a table belongs to.
  public enum Place: Sendable, Hashable {
    /// To a key, or to an element of a set: where in it; nil where it is not known how large keys are.
    case key(offset: UInt64?)
    /// To a value: where in it.
    case value(offset: UInt64)
  }

  /// What a word of the table belongs to.
  ///
  /// - Parameters:
  ///   - address: Of the word.
  ///   - keyStride: How far keys are from each other, where their type tells.
  /// - Returns: nil for what stands in front of the keys.
  public func place(of address: UInt64, keyStride: UInt64?) -> Place? {
    if let offset = offsetInValue(address) { return .value(offset: offset) }
    guard keys.contains(address) else { return nil }
    guard let keyStride, keyStride > 0, keyStrides.contains(keyStride) else {
      return .key(offset: nil)
    }
    return .key(offset: (address - keys.lowerBound) % keyStride)
  }

  /// Where in a value of the table a word of it lies; nil for what is no value.
  func offsetInValue(_ address: UInt64) -> UInt64? {
    guard values.contains(address) else { return nil }
    return (address - values.lowerBound) % valueStride
  }

  /// Visits the addresses of the values in use.
  func forEachValue(_ memory: SnapshotMemory, _ body: (UInt64) -> Void) {
    forEachUsedBucket(memory) { body(values.lowerBound &+ $0 &* valueStride) }
  }

  /// Visits the addresses of the keys in use, or of the elements of a set.
  ///
  /// - Parameters:
  ///   - stride: How far keys are from each other; none is visited where that cannot be.
  ///   - memory: The memory that the table is in.
  ///   - body: Called with each address.
  func forEachKey(stride: UInt64, _ memory: SnapshotMemory, _ body: (UInt64) -> Void) {
    guard keyStrides.contains(stride) else { return }
    forEachUsedBucket(memory) { body(keys.lowerBound &+ $0 &* stride) }
  }

  private func forEachUsedBucket(_ memory: SnapshotMemory, _ body: (UInt64) -> Void) {
    for first in Swift.stride(from: 0, to: bucketCount, by: 64) {
      var used = memory.word(at: bits &+ first / 8)
      if bucketCount < 64 { used &= (1 << bucketCount) - 1 }
      while used != 0 {
        body(first &+ UInt64(used.trailingZeroBitCount))
        used &= used - 1
      }
    }
  }

  private func isUsed(_ bucket: UInt64, _ memory: SnapshotMemory) -> Bool {
    memory.word(at: bits &+ bucket / 64 * 8) >> (bucket % 64) & 1 != 0
  }
}
