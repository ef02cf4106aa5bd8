import TraceReader
import TraceTestSupport

/// A made-up program that allocates and frees as real ones do.
///
/// A few stacks allocate most blocks, each stack nearly always asks for the same size, most blocks
/// die young, and the allocator hands back the block of a size that was freed last.
struct SyntheticProgram {
  private struct Block {
    var address: UInt64
    var sizeClass: Int
  }

  private var random: SeededGenerator
  private let stacks: [StackID]
  private let sizes: [UInt64]
  private let greatestLive: Int
  private var live: [Block] = []
  private var freeLists: [[UInt64]]
  private var breakAddress: UInt64

  init(seed: UInt64, stacks: [StackID], greatestLive: Int, heapStart: UInt64) {
    random = SeededGenerator(seed: seed)
    self.stacks = stacks
    self.greatestLive = greatestLive
    breakAddress = heapStart
    var sizes: [UInt64] = []
    for _ in stacks {
      let small = UInt64.random(in: 8...200, using: &random)
      sizes.append(
        Int.random(in: 0..<20, using: &random) == 0 ? small * 97 : small)
    }
    self.sizes = sizes
    freeLists = Array(repeating: [], count: 2048)
  }

  /// The next event of the program.
  mutating func next(time: UInt64, thread: UInt32) -> Event {
    let wantsFree = Int.random(in: 0..<100, using: &random) < (live.count < greatestLive ? 46 : 54)
    return wantsFree && !live.isEmpty ? free(time, thread) : allocate(time, thread)
  }

  private mutating func allocate(_ time: UInt64, _ thread: UInt32) -> Event {
    // The square of a random number prefers the first stacks.
    let share = Double.random(in: 0..<1, using: &random)
    let site = min(stacks.count - 1, Int(share * share * share * Double(stacks.count)))
    let sizeClass = min(Int(sizes[site] + 8 + 15) / 16, freeLists.count - 1)
    let address: UInt64
    if let last = freeLists[sizeClass].popLast() {
      address = last
    } else {
      address = breakAddress
      breakAddress += UInt64(sizeClass) * 16
    }
    live.append(Block(address: address, sizeClass: sizeClass))
    return Event(
      operation: .malloc, time: EventTime(time), thread: ThreadIndex(thread),
      address: Address(address), size: sizes[site], stack: stacks[site])
  }

  private mutating func free(_ time: UInt64, _ thread: UInt32) -> Event {
    // Nine in ten are recent; the others can be any.
    let recent = min(live.count, 16)
    let isRecent = Int.random(in: 0..<10, using: &random) < 9
    let back = Int.random(in: 0..<(isRecent ? recent : live.count), using: &random)
    let position = live.count - 1 - back
    live.swapAt(position, live.count - 1)
    let block = live.removeLast()
    freeLists[block.sizeClass].append(block.address)
    return Event(
      operation: .free, time: EventTime(time), thread: ThreadIndex(thread),
      address: Address(block.address), stack: stacks[block.sizeClass % stacks.count])
  }
}
