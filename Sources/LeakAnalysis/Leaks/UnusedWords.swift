import TraceReader

/// Where leaked blocks have the addresses of other leaked blocks between their members.
///
/// It is what was in that memory before, as a new block often is where others were. It holds nothing, and would bring one
/// leak under another that has nothing to do with it.
///
/// Only of structures that debug information tells of. What can be reached is not looked at in this way, so that no
/// block becomes a leak by it.
struct UnusedWords {
  /// For each block with such words their offsets, ascending.
  private let offsets: [Int: [UInt64]]

  /// Knows of none.
  init() { offsets = [:] }

  /// - Parameters:
  ///   - scanner: Finds the pointers.
  ///   - reachability: Which blocks are leaked.
  ///   - facts: Knows what is in blocks.
  /// - Complexity: O(*words*) in the leaked blocks.
  init(_ scanner: EdgeScanner, _ reachability: Reachability, _ facts: StackFacts) {
    let shapes = BlockShapes(scanner.heap, facts)
    var found: [Int: [UInt64]] = [:]
    var edges: [(offset: UInt64, target: Int)] = []
    for block in 0..<scanner.heap.blocks.count where reachability.isUnreached(block) {
      // What is asked of an edge would have the heap retained for each block, were it asked in here.
      edges.removeAll(keepingCapacity: true)
      scanner.forEachEdge(of: block) { edges.append(($0, $1.block)) }
      guard !edges.isEmpty else { continue }
      let shape = shapes.shape(of: block)
      for (offset, target) in edges
      where target != block && reachability.isUnreached(target)
        && shapes.isUnused(offset, in: shape, of: block)
      {
        found[block, default: []].append(offset)
      }
    }
    offsets = found
  }

  /// The offsets of such words in a block; nil where it has none.
  @inline(__always)
  func offsets(in block: Int) -> [UInt64]? { offsets.isEmpty ? nil : offsets[block] }
}

/// What is known of blocks that are the same as far as their members go.
private final class BlockShapes {
  private struct Key: Hashable {
    var stack: StackID
    var size: UInt64
    /// The virtual table; 0 for other blocks.
    var table: UInt64
  }

  private enum Answer: UInt8 {
    case unknown, used, unused
  }

  private let heap: HeapImage
  private let facts: StackFacts
  private var numbers: [Key: Int] = [:]
  /// For each shape what is known of its words, as far as they were asked for.
  private var answers: [[Answer]] = []
  private var answerCount = 0
  /// That of the block before: most often the next has the same.
  private var last: (key: Key, number: Int)?

  /// In large structures, and in arrays of them, only so many bytes are looked at.
  private static let mostBytes: UInt64 = 16384
  /// Each answer may need debug information to be read: no more are asked for.
  private static let mostAnswers = 100_000

  init(_ heap: HeapImage, _ facts: StackFacts) {
    (self.heap, self.facts) = (heap, facts)
  }

  /// The number of a block's shape.
  func shape(of block: Int) -> Int {
    let first = heap.memory.word(at: heap.blocks.address(of: block))
    let table = InteriorPointers.isVirtualTable(first, heap.memory) ? first : 0
    let key = Key(
      stack: heap.blocks.site(of: block).stack, size: heap.blocks.size(of: block), table: table)
    if let last, last.key == key { return last.number }
    let number = numbers[key] ?? answers.count
    if number == answers.count {
      numbers[key] = number
      answers.append([])
    }
    last = (key, number)
    return number
  }

  /// Whether no pointer can be at an offset of a shape; what was not asked for may be one.
  func isUnused(_ offset: UInt64, in shape: Int, of block: Int) -> Bool {
    guard offset < Self.mostBytes, offset % 8 == 0 else { return false }
    let word = Int(offset / 8)
    if word < answers[shape].count, answers[shape][word] != .unknown {
      return answers[shape][word] == .unused
    }
    guard answerCount < Self.mostAnswers else { return false }
    answerCount += 1
    let missing = word + 1 - answers[shape].count
    if missing > 0 { answers[shape] += repeatElement(.unknown, count: missing) }
    answers[shape][word] = facts.isUnused(offset, block, heap) ? .unused : .used
    return answers[shape][word] == .unused
  }
}
