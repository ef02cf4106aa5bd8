import LeakAnalysis

/// Blocks in the order in which they are listed one by one: 8 bytes each, and 4 while they are
/// sorted.
struct SingleBlocks: Sendable {
  /// The number of the name above the block, which has 31 bits.
  private var entries: [UInt64] = []
  private var numbers: [String: UInt64] = [:]

  /// Makes room; what is not used takes no memory.
  mutating func reserve(_ capacity: Int) {
    entries.reserveCapacity(capacity)
  }

  /// Adds a block with its name.
  mutating func add(_ block: Int, name: String) {
    let number = numbers[name] ?? UInt64(numbers.count)
    if number == numbers.count { numbers[name] = number }
    entries.append(number << 32 | UInt64(UInt32(truncatingIfNeeded: block)))
  }

  /// The greatest come first; of one size by name, then by address.
  mutating func sort(_ blocks: HeapBlocks) {
    var ranks = Array(repeating: UInt64(0), count: numbers.count)
    for (rank, name) in numbers.keys.sorted().enumerated() {
      if let number = numbers[name] { ranks[Int(number)] = UInt64(rank) }
    }
    for index in entries.indices {
      let (number, block) = (entries[index] >> 32, entries[index] & Self.blockMask)
      entries[index] = ranks[Int(number)] << 32 | block
    }
    entries.sort {
      let (first, second) = (blocks.size(of: Self.block($0)), blocks.size(of: Self.block($1)))
      return first == second ? $0 < $1 : first > second
    }
  }

  private static let blockMask: UInt64 = 0xffff_ffff
  private static func block(_ entry: UInt64) -> Int { Int(entry & blockMask) }
}

extension SingleBlocks: RandomAccessCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { entries.count }
  subscript(position: Int) -> Int { Self.block(entries[position]) }
}
