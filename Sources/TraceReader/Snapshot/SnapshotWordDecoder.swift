import CTraceFormat

/// Decodes the runs of words of a snapshot into a ``SnapshotMemory``.
struct SnapshotWordDecoder {
  private(set) var memory: SnapshotMemory
  private let regions: [SnapshotRegion]
  private let memoryLimit: Int
  /// One past the last word that was added.
  private var end: UInt64 = 0
  private var lastRegion = 0

  /// Bytes after those of a chunk that may be loaded.
  static let guardLength = 32

  /// - Parameters:
  ///   - regions: The mappings of the process.
  ///   - expectedCount: How many words there will be, as far as that is known.
  ///   - memoryLimit: Words that take more bytes are not kept.
  init(
    regions: [SnapshotRegion], expectedCount: Int = 0,
    memoryLimit: Int = ReaderMemory.wordLimit()
  ) {
    memory = SnapshotMemory(regions: regions)
    self.regions = regions
    self.memoryLimit = memoryLimit
    // An array that grows is there twice for a moment.
    memory.values.reserveCapacity(
      min(expectedCount, memoryLimit / MemoryLayout<UInt64>.stride))
  }

  /// Notes that not all of a chunk could be read.
  mutating func noteDamage() { memory.damagedRuns += 1 }

  /// Decodes the runs of a chunk.
  ///
  /// - Parameter chunk: The bytes with the chunk header and ``guardLength`` more.
  mutating func decode(_ chunk: UnsafeRawBufferPointer) {
    let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<max(0, chunk.count - Self.guardLength)])
    var position = ChunkHeader.size
    while position < bytes.count, !memory.exceedsMemory {
      var cursor = ByteCursor(bytes, at: position)
      let address: UInt64 = cursor.read()
      let length = Int(cursor.read(UInt32.self))
      cursor.skip(4)
      if cursor.isPastEnd { return }
      if length == 0 {
        memory.damagedRuns += bytes.isUnused(from: position) ? 0 : 1
        return
      }
      let start = cursor.position
      guard let base = chunk.baseAddress, length <= bytes.count - start else {
        memory.damagedRuns += 1
        return
      }
      if !decodeRun(at: address, base + start, base + start + length), !memory.exceedsMemory {
        memory.damagedRuns += 1
      }
      position = (start + length + 7) & ~7
    }
  }

  /// Decodes one run; false when it contradicts itself or what was before it, or there is no memory for it.
  private mutating func decodeRun(
    at address: UInt64, _ start: UnsafeRawPointer, _ end: UnsafeRawPointer
  ) -> Bool {
    guard address & 7 == 0 else { return false }
    var place = address &- 8
    var value: UInt64 = 0
    var position = start
    var isMalformed = false
    while position < end {
      let tag = UInt32(position.load(as: UInt8.self))
      position += 1
      var gap = UInt64(tag & UInt32(MT_SNAPSHOT_GAP_MASK))
      if gap == 0 { gap = VarInt.read(&position, &isMalformed) }
      let code = Int(tag >> UInt32(MT_SNAPSHOT_SIZE_SHIFT)) & 7
      let size = code == 7 ? 8 : code
      guard !isMalformed, gap > 0, gap < 1 << 45, position + size <= end else { return false }
      let loaded = UInt64(littleEndian: position.loadUnaligned(as: UInt64.self))
      position += size
      place &+= gap &* 8
      let distance = VarInt.unzigzag(size == 8 ? loaded : loaded & ((1 << UInt64(size * 8)) &- 1))
      value = (tag & UInt32(MT_SNAPSHOT_OWN_ADDRESS) != 0 ? place : value) &+ distance
      guard append(value, at: place) else { return false }
    }
    return true
  }

  /// Adds a word; false when it does not ascend, lies in no mapping, or there is no memory for it.
  @inline(__always)
  private mutating func append(_ value: UInt64, at address: UInt64) -> Bool {
    guard address >= end, address < .max - 8 else { return false }
    if memory.pages.last != address >> 12 {
      guard isMapped(address) else { return false }
      // A page more or less does not matter.
      guard memory.size < memoryLimit else {
        memory.exceedsMemory = true
        return false
      }
      memory.appendPage(address >> 12)
    }
    end = address &+ 8
    guard value != 0 else { return true }
    let index = Int(truncatingIfNeeded: address >> 3 & 511)
    memory.bitmaps[memory.bitmaps.count - 8 + index >> 6] |= 1 << UInt64(index & 63)
    memory.values.append(value)
    return true
  }

  /// Whether an address lies in a mapping, kept or not.
  private mutating func isMapped(_ address: UInt64) -> Bool {
    if lastRegion < regions.count, regions[lastRegion].contains(address) { return true }
    guard let position = SnapshotRegion.position(of: address, in: regions) else { return false }
    lastRegion = position
    return true
  }
}
