import TraceReader

/// The heap at a snapshot: the blocks that were live then, and what stood in the memory.
public struct HeapImage: Sendable {
  /// When and why the snapshot was taken, the threads and the mappings.
  public let info: SnapshotInfo
  /// The words that can be pointers.
  public let memory: SnapshotMemory
  /// The live blocks.
  public let blocks: HeapBlocks
  /// Whether there may be blocks that the trace does not know: those that a forked process had from
  /// its parent, or from before the recording.
  public let hasUnknownBlocks: Bool
  /// Of which blocks what the allocator added to them may be in use.
  public let slack: Slack
  /// Whether the Swift runtime is in the process, as a library or linked into the program.
  public let hasSwift: Bool
  /// Where the program has said that blocks are none to report.
  public let ignored: [IgnoredBlock]
  /// What is missing in the trace up to the snapshot.
  public let coverage: Coverage
  /// How many words should be in the snapshot and could not be read; 0 for one that was cut, of
  /// which nobody knows.
  public var missingWords: UInt64 {
    let found = UInt64(memory.wordCount)
    return info.isComplete && info.wordCount > found ? info.wordCount - found : 0
  }
  /// Finds blocks by address.
  let lookup: BlockLookup
  /// The words outside of known blocks that hold nothing.
  fileprivate(set) var abandoned = AbandonedWords()

  /// What the process may do with what the allocator adds to its blocks.
  public enum Slack: Sendable, Hashable {
    /// Nothing: it never asked how much that is.
    case unused
    /// Fill it behind the elements of arrays and their like.
    case ofObjects
    /// Fill it anywhere.
    case used
  }

  /// Puts a heap together from its parts.
  public init(
    info: SnapshotInfo, memory: SnapshotMemory, blocks: HeapBlocks,
    hasUnknownBlocks: Bool = false, slack: Slack = .unused, hasSwiftObjects: Bool = false,
    ignored: [IgnoredBlock] = [], coverage: Coverage = Coverage()
  ) {
    self.ignored = ignored
    var blocks = blocks
    if MainArena.isUnused(in: memory) { blocks.learnRounding() }
    self.info = info
    self.memory = memory
    self.blocks = blocks
    self.hasUnknownBlocks = hasUnknownBlocks
    self.slack = slack
    // Where there are objects of the runtime it is there itself: linked statically, no path names it.
    hasSwift =
      hasSwiftObjects
      || memory.regions.contains { $0.path?.contains("/libswiftCore.so") == true }
    self.coverage = coverage
    lookup = BlockLookup(blocks)
  }
}

extension Trace {
  /// Reads a snapshot, and replays the events up to it.
  ///
  /// - Parameters:
  ///   - index: The position of the snapshot in ``snapshots``.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  /// - Returns: The heap as of the snapshot.
  /// - Throws: `TraceError` when there is no such snapshot or the file cannot be read.
  /// - Complexity: O(*events* + *words*) time, up to 56 bytes per block, and 8 per word.
  public func heap(
    atSnapshot index: Int, progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws(TraceError) -> HeapImage {
    let memory = try loadSnapshot(index)
    let info = snapshots[index]
    var options = ReplayOptions()
    options.liveAt = info.time
    options.keepsLiveBlocks = true
    options.includesRecorder = true
    options.progress = progress
    var result = try replay(options)
    let blocks = result.liveBlocks
    result.liveBlocks = LiveBlocks()
    var heap = HeapImage(
      info: info, memory: memory, blocks: HeapBlocks(consume blocks, sites: result.sites),
      hasUnknownBlocks: header.flags.contains(.forked) || header.flags.contains(.late)
        || result.coverage.mayMissAllocations,
      slack: slackInUse, hasSwiftObjects: types.hasSwift, ignored: ignoredBlocks,
      coverage: result.coverage)
    heap.abandoned = try abandonedWords(in: heap, progress: progress)
    return heap
  }

  /// Where there is no Swift, the recorder took something else for its objects.
  private var slackInUse: HeapImage.Slack {
    guard header.flags.contains(.usableSizes) else { return .unused }
    return header.flags.contains(.usableSizesOfObjects) && types.hasSwift ? .ofObjects : .used
  }
}
