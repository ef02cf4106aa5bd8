import TraceReader

/// All pointers of live memory into blocks that were freed.
///
/// Found in two steps: words that lead into free memory of the allocator, then, in a second pass over the events, the
/// last block that was there. Addresses that were used again cannot be seen: what leads there leads to a live block.
public struct DanglingPointers: Sendable {
  /// The heap in which they were looked for.
  public let heap: HeapImage
  /// In no particular order.
  public private(set) var pointers: [DanglingPointer] = []
  /// Whether all events were looked at.
  public let isComplete: Bool

  /// Looks for them.
  ///
  /// - Parameters:
  ///   - analysis: The heap of a snapshot, and what of it can be reached.
  ///   - trace: The trace of the snapshot.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  /// - Throws: `TraceError` when the file cannot be read.
  /// - Complexity: O(*words* + *events*) time, 250 bytes per word that leads into free memory.
  public init(
    _ analysis: LeakAnalysis, in trace: Trace,
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws(TraceError) {
    heap = analysis.heap
    let candidates = DanglingCandidates(analysis)
    let past = try trace.pastBlocks(
      covering: candidates.addresses(), upTo: analysis.heap.info.time,
      extent: analysis.heap.blocks.extent, progress: progress)
    isComplete = past.isComplete
    let judge = DanglingJudge(analysis, past)
    for position in 0..<candidates.words.count {
      let word = candidates.words[position]
      if let block = candidates.block(of: word) {
        if let pointer = judge.pointer(word, in: block) { pointers.append(pointer) }
      } else if let root = candidates.root(of: word), let pointer = judge.pointer(word, in: root) {
        pointers.append(pointer)
      }
    }
    lowerUnusedCapacity()
  }

  private mutating func lowerUnusedCapacity() {
    let holders = pointers.compactMap { pointer -> Int? in
      if case .block(let block) = pointer.holder, pointer.confidence != .doubtful { return block }
      return nil
    }
    guard !holders.isEmpty else { return }
    let parts = UsedParts(of: holders, in: heap)
    for position in pointers.indices {
      guard case .block(let block) = pointers[position].holder,
        parts.isUnused(pointers[position].offset, in: block)
      else { continue }
      pointers[position].confidence = .doubtful
    }
  }
}

/// Says of words that lead into free memory which of them are pointers to blocks that were there, and how sure it is.
private struct DanglingJudge {
  private let analysis: LeakAnalysis
  private let heap: HeapImage
  private let past: PastBlocks

  /// Numbers are hardly ever greater, and addresses hardly ever less.
  private static let greatestNumber = UInt64(UInt32.max)

  init(_ analysis: LeakAnalysis, _ past: PastBlocks) {
    (self.analysis, self.past) = (analysis, past)
    heap = analysis.heap
  }

  /// The pointer that a word of a root is; nil for none.
  func pointer(_ word: DanglingCandidates.Word, in root: Root) -> DanglingPointer? {
    guard let found = target(of: word.value) else { return nil }
    var confidence = usual(found, word.value)
    switch root.category {
    case .global: break
    case .threadLocal where !ThreadCache.mayBegin(at: word.value, heap): break
    default: confidence = .doubtful
    }
    if ExpiredReferences.contains(word.address, in: nil, heap) { confidence = .doubtful }
    let slot = RootSlot(root: root, address: word.address)
    return DanglingPointer(
      holder: .root(slot), offset: 0, value: word.value, freed: found.block,
      isStart: found.isStart, confidence: confidence)
  }

  /// The pointer that a word of a block is; nil for none, and for one that must have been in the memory before the
  /// block was allocated.
  func pointer(_ word: DanglingCandidates.Word, in block: Int) -> DanglingPointer? {
    guard let found = target(of: word.value) else { return nil }
    let holder = past.block(covering: word.address)
    let start = heap.blocks.address(of: block)
    guard holder.address == start, !holder.isFreed, holder.begin < found.block.end else {
      return nil
    }
    var confidence = usual(found, word.value)
    if heap.blocks.size(of: block) > DanglingPointer.greatestStructure {
      confidence = max(confidence, found.isStart ? .possible : .doubtful)
    }
    if analysis.reachability.state(of: block) != .reached {
      confidence = max(confidence, .possible)
    }
    let scanner = analysis.scanner
    let mayBeRemoved = scanner.isArray(block) && scanner.usedElements(of: block) == nil
    let isWritten =
      scanner.isWholeElement(at: word.address &- start, of: block) || wasWritten(word, holder)
    if !isWritten || mayBeRemoved || scanner.hasAsyncFrames(block)
      || ExpiredReferences.contains(word.address, in: block, heap)
    {
      confidence = .doubtful
    }
    return DanglingPointer(
      holder: .block(block), offset: word.address &- start, value: word.value, freed: found.block,
      isStart: found.isStart, confidence: confidence)
  }

  /// A block that was freed.
  private struct Target {
    var block: PastBlock
    var isStart: Bool
  }

  /// The block that was last where a word leads; nil where it was none, or the word leads to its end.
  private func target(of value: UInt64) -> Target? {
    let position = past.position(of: value)
    guard let block = position.map({ past.blocks[$0] }), block.isFreed,
      block.allocation.thread != .recorder
    else { return nil }
    let offset = value &- block.address
    guard offset < max(block.size, 1) else { return nil }
    let isStart =
      offset == 0 || InteriorPointers.isArray(offset, of: block.allocation.operation)
    // Just in front of a block is where allocators point, and what counts elements from 1.
    if !isStart, [8, 16].contains(where: { heap.blocks.block(at: value &+ $0) != nil }) {
      return nil
    }
    return Target(block: block, isStart: isStart)
  }

  private func usual(_ target: Target, _ value: UInt64) -> DanglingPointer.Confidence {
    if target.isStart { return .likely }
    return value > Self.greatestNumber ? .possible : .doubtful
  }

  /// Whether a word was surely written in the life of the block that it is in: where nothing else has been before,
  /// or where no block was before to which it leads.
  private func wasWritten(_ word: DanglingCandidates.Word, _ holder: PastBlock) -> Bool {
    let operation = holder.allocation.operation
    if operation == .calloc { return true }
    if heap.hasUnknownBlocks { return false }
    if past.block(covering: word.value).firstBegin > holder.begin { return true }
    // What `realloc` has moved may have been left over before.
    return operation != .realloc && holder.firstBegin == holder.begin
  }
}
