import TraceReader

/// Where leaked blocks have the addresses of other leaked blocks between their members: what was in that memory before,
/// as a new block often is where others were. It holds nothing, and would bring one leak under another that has nothing
/// to do with it.
///
/// Only of structures that debug information tells of. What can be reached is not looked at in this way, so that no
/// block becomes a leak by it.
struct UnusedWords {
  /// For each block with such words their offsets, ascending.
  private let offsets: [Int: [UInt64]]

  /// Blocks that are the same as far as their members go.
  private struct Key: Hashable {
    var stack: StackID
    var size: UInt64
    /// The virtual table; 0 for other blocks.
    var table: UInt64
    var offset: UInt64
  }

  /// In large structures, and in arrays of them, only so many bytes are looked at.
  private static let mostBytes: UInt64 = 16384
  /// Each answer may need debug information to be read: no more are asked for.
  private static let mostAnswers = 100_000

  /// Knows of none.
  init() { offsets = [:] }

  /// - Parameters:
  ///   - scanner: Finds the pointers.
  ///   - reachability: Which blocks are leaked.
  ///   - facts: Knows what is in blocks.
  /// - Complexity: O(*words*) in the leaked blocks.
  init(_ scanner: EdgeScanner, _ reachability: Reachability, _ facts: StackFacts) {
    let (heap, blocks) = (scanner.heap, scanner.heap.blocks)
    var found: [Int: [UInt64]] = [:]
    var answers: [Key: Bool] = [:]
    for block in 0..<blocks.count where reachability.isUnreached(block) {
      let first = heap.memory.word(at: blocks.address(of: block))
      let table = InteriorPointers.isVirtualTable(first, heap.memory) ? first : 0
      let (stack, size) = (blocks.site(of: block).stack, blocks.size(of: block))
      scanner.forEachEdge(of: block) { offset, target in
        guard offset < Self.mostBytes, target.block != block,
          reachability.isUnreached(target.block)
        else { return }
        let key = Key(stack: stack, size: size, table: table, offset: offset)
        let known = answers[key]
        guard known != nil || answers.count < Self.mostAnswers else { return }
        let isUnused = known ?? facts.isUnused(offset, block, heap)
        answers[key] = isUnused
        if isUnused { found[block, default: []].append(offset) }
      }
    }
    offsets = found
  }

  /// The offsets of such words in a block; nil where it has none.
  @inline(__always)
  func offsets(in block: Int) -> [UInt64]? { offsets.isEmpty ? nil : offsets[block] }
}
