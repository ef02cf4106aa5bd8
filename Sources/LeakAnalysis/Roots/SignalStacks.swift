import TraceReader

/// The stacks on which threads run handlers of signals, of those in blocks.
///
/// Often only the kernel knows where they are. They are in use as long as it does, and yet hold
/// nothing but what handlers left behind that have returned.
struct SignalStacks {
  /// A stack that lies in a block.
  struct Stack {
    /// The recorder's index of its thread.
    var thread: UInt32
    /// All of it.
    var range: Range<UInt64>
    /// What is below the frames of a handler that runs; without one, all of it.
    var dead: Range<UInt64>
    /// The block; a few stacks may share one.
    var block: Int
  }

  /// The stacks, in the order of their threads.
  let stacks: [Stack]

  init(_ info: SnapshotInfo, _ lookup: BlockLookup) {
    stacks = info.threads.compactMap { thread in
      guard let range = thread.signalStack else { return nil }
      let block = lookup.block(containing: range.lowerBound)
      // What was freed without telling the kernel may be part of anything now.
      guard block >= 0, lookup.block(containing: range.upperBound - 1) == block else { return nil }
      let alive = info.threads.filter { range.contains($0.sp) }.compactMap(\.stackStart).min()
      let dead = range.lowerBound..<max(range.lowerBound, alive ?? range.upperBound)
      return Stack(thread: thread.thread, range: range, dead: dead, block: block)
    }
  }

  /// What handlers left behind, by block.
  func deadWords() -> [Int: [Range<UInt64>]] {
    Dictionary(grouping: stacks, by: \.block).mapValues { $0.map(\.dead) }
  }
}
