import TraceReader

/// What is left of blocks that were freed while every allocation was recorded, in a heap with blocks that the trace
/// does not know.
///
/// Memory outside of known blocks may belong to a block from before the recording. Not where a known block was since
/// then: what the allocator gave out anew would be a known block again. Words that are left there hold nothing, and a
/// program that works, a server between two requests, leaves many.
struct AbandonedWords: Sendable {
  /// In ascending order.
  private let addresses: [UInt64]

  /// There are none.
  init() { addresses = [] }

  /// Looks for them among words that may lead to blocks.
  ///
  /// - Parameters:
  ///   - past: The blocks that covered the words last.
  ///   - start: Since when every allocation was recorded.
  ///   - extent: How far blocks reach.
  fileprivate init(_ past: PastBlocks, since start: EventTime, _ extent: BlockExtent) {
    addresses = zip(past.addresses, past.blocks).compactMap { address, block in
      guard block.isFreed, block.deallocation.time >= start,
        address &- block.address &+ 8 <= extent.bytes(block.size)
      else { return nil }
      return address
    }
  }

  /// Whether the word at an address is one.
  ///
  /// - Complexity: O(log *n*).
  func contains(_ address: UInt64) -> Bool {
    let position = addresses.partitioningIndex { $0 >= address }
    return position < addresses.count && addresses[position] == address
  }
}

extension Trace {
  /// Finds what is left of freed blocks in a heap.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  /// - Returns: Where they are; none where blocks from before the recording may lie anywhere.
  /// - Throws: `TraceError` when the file cannot be read.
  /// - Complexity: O(*words* + *events*) time, 112 bytes per word outside of known blocks that leads to one.
  func abandonedWords(
    in heap: HeapImage, progress: (@Sendable (UInt64, UInt64) -> Void)?
  ) throws(TraceError) -> AbandonedWords {
    guard heap.hasUnknownBlocks, let start = recordingStart(before: heap) else {
      return AbandonedWords()
    }
    let extent = heap.blocks.extent
    let past = try pastBlocks(
      covering: heap.wordsOutsideOfBlocks(), upTo: heap.info.time, extent: extent,
      progress: progress)
    // In a damaged trace the last block of an address may not have been looked at.
    return past.isComplete ? AbandonedWords(past, since: start, extent) : AbandonedWords()
  }

  /// Since when, up to a snapshot, every allocation was recorded; nil where some may be missing.
  ///
  /// In a process that was attached to, the loader allocates thread-local variables past the recorder, by an address
  /// that it has kept. A child may have been forked by such a process where its recording could be paused.
  private func recordingStart(before heap: HeapImage) -> EventTime? {
    var coverage = heap.coverage
    coverage.isPausable = false
    guard !coverage.mayMissAllocations, coverage.bypassed.isEmpty,
      !header.flags.contains(.announced), !notes.contains(where: { $0.kind == .attached })
    else { return nil }
    let isForked = header.flags.contains(.forked)
    guard let windows else { return isForked ? EventTime(0) : nil }
    let time = heap.info.time
    let window = windows.last { $0.start <= time && $0.end.map { $0 > time } ?? true }
    return isForked ? nil : window?.start
  }
}

extension HeapImage {
  /// The words of the allocator's memory outside of known blocks that may lead into one.
  fileprivate func wordsOutsideOfBlocks() -> [UInt64] {
    var found: [UInt64] = []
    let words = RootWords(self)
    for range in AllocatorMemory(self).heaps {
      words.forEach(of: Root(.unknownHeap, range)) { address, value in
        if mayLeadToBlock(value) { found.append(address) }
      }
    }
    return found
  }

  /// Whether a word is a pointer into a block, with tags or without, or to a side table of Swift.
  ///
  /// What is a pointer otherwise is not asked about, and holds as before.
  private func mayLeadToBlock(_ value: UInt64) -> Bool {
    lookup.block(containing: value) >= 0
      || lookup.block(containing: value & EdgeScanner.addressMask) >= 0
      || lookup.block(containing: value << 3 & EdgeScanner.addressMask) >= 0
  }
}
