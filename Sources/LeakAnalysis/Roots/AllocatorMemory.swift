import TraceReader

/// The memory that belongs to the allocator: inside it nothing but live blocks can hold a block.
///
/// What is left in freed blocks, and the allocator's own lists of them (``MainArena``), is no root. Everything else
/// that is anonymous is the program's own: a block that only an `mmap`ed page points to is no leak.
/// Mappings cannot tell them apart, because the kernel merges neighbours; the addresses of blocks can.
struct AllocatorMemory {
  /// By ascending address, without overlaps.
  private(set) var ranges: [Range<UInt64>] = []
  /// Of these the allocator's own variables, in which there can be no block.
  private(set) var variables: [Range<UInt64>] = []
  /// Those in which there can be blocks.
  var heaps: [Range<UInt64>] { ranges.filter { !variables.contains($0) } }

  /// glibc maps blocks of at least 128 KiB on their own (unless told otherwise), jemalloc and
  /// tcmalloc have classes of small blocks below this one.
  private static let smallestMappedBlock: UInt64 = 64 << 10

  /// Where threads have their stacks, which programs may allocate.
  private let stackPointers: [UInt64]

  /// Finds it by the blocks in each mapping.
  init(_ heap: HeapImage) {
    let memory = heap.memory
    stackPointers = heap.info.threads.map(\.sp)
    for region in memory.regions {
      if region.kind == .heap {
        ranges.append(region.start..<region.end)
      } else if region.kind == .image {
        if let arena = MainArena.range(in: region, memory) {
          ranges.append(arena)
          variables.append(arena)
        }
      } else if [.anonymous, .threadLocal, .stack].contains(region.kind) {
        addRanges(in: region, heap.blocks, memory)
      }
    }
  }

  private mutating func addRanges(
    in region: SnapshotRegion, _ blocks: HeapBlocks, _ memory: SnapshotMemory
  ) {
    var position = blocks.firstPosition(from: region.start)
    if position > 0, blocks.end(of: position - 1) > region.start { position -= 1 }
    var isForeign = false
    var found: [Range<UInt64>] = []
    while position < blocks.recordedCount, blocks.address(of: position) < region.end {
      let address = blocks.address(of: position)
      if let heap = ArenaHeap.holding(address, memory) {
        let heap = heap.clamped(to: region.start..<region.end)
        if !heap.isEmpty { found.append(heap) }
        position = max(position + 1, blocks.firstPosition(from: heap.upperBound))
      } else {
        if Self.isMapped(address, size: blocks.size(of: position)) {
          found += ownRange(of: address..<blocks.end(of: position), in: region)
        } else {
          isForeign = true
        }
        position += 1
      }
    }
    if isForeign && region.kind == .anonymous {
      ranges.append(region.start..<region.end)
    } else {
      ranges += Self.adding(ArenaHeap.heaps(in: region, memory), to: found)
    }
  }

  /// Adds the heaps that have no block to what was found by blocks.
  private static func adding(
    _ heaps: [Range<UInt64>], to found: [Range<UInt64>]
  ) -> [Range<UInt64>] {
    let others = heaps.filter { heap in !heap.isEmpty && !found.contains { $0.overlaps(heap) } }
    return others.isEmpty ? found : (found + others).sorted { $0.lowerBound < $1.lowerBound }
  }

  /// The part of a mapping that a block has which was mapped on its own, unless it is the stack of a
  /// thread or a fiber that runs: a root, whoever allocated it.
  private func ownRange(of block: Range<UInt64>, in region: SnapshotRegion) -> [Range<UInt64>] {
    let range = block.clamped(to: region.start..<region.end)
    let isStack = stackPointers.contains { block.contains($0) }
    return range.isEmpty || isStack ? [] : [range]
  }

  /// Whether a block looks like one that its allocator mapped on its own: glibc puts 16 bytes in
  /// front of it, and may have aligned it.
  private static func isMapped(_ address: UInt64, size: UInt64) -> Bool {
    address & 4095 == 16 || size >= smallestMappedBlock
  }

  /// The parts of a range that do not belong to the allocator.
  func gaps(in range: Range<UInt64>) -> [Range<UInt64>] {
    var gaps: [Range<UInt64>] = []
    var start = range.lowerBound
    let first = ranges.partitioningIndex { $0.upperBound > range.lowerBound }
    for taken in ranges[first...].prefix(while: { $0.lowerBound < range.upperBound }) {
      if taken.lowerBound > start { gaps.append(start..<taken.lowerBound) }
      start = max(start, taken.upperBound)
    }
    if start < range.upperBound { gaps.append(start..<range.upperBound) }
    return gaps
  }
}
