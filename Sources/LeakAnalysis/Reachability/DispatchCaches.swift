import TraceReader

/// The records in which libdispatch queues work, of those that wait for new work, and what others have kept of
/// earlier work.
///
/// ```
/// thread control block  +8  vector      vector  +16 * module  variables of libdispatch
/// variables            +24  first record          record  +16  next record
///                                                         +0   flags, or a table of functions
///                                                         +48  group or queue of the work
///                                                         +56  what is passed on
/// ```
/// A thread keeps what it has worked off, with the addresses of the work. Of all else that a record
/// says, nothing is read again. One that is used once more says what it passes on only if it does, as
/// a table of functions tells.
/// Source: `src/shims/tsd.h`, `src/queue_internal.h` and `src/inline_internal.h`, and of
/// sources `src/event/event_internal.h`, of swift-corelibs-libdispatch.
enum DispatchCaches {
  /// Where in a record the next one is.
  static let next: UInt64 = 16

  /// Where in a record that passes something on this is named.
  static let passedOn: UInt64 = 56

  /// Where in a record the group or the queue is that work belongs to, which it keeps until it is done; other work leaves
  /// there what was before.
  static let owner: UInt64 = 48

  /// Where the key is by which something is kept for a queue: it is compared with others, and never followed.
  static let key: UInt64 = 0

  private static let recordSize: UInt64 = 64
  private static let firstRecord: UInt64 = 24

  /// The blocks that are such records; nil where there are none.
  static func records(_ heap: HeapImage) -> Bits? {
    guard heap.info.dispatchModule > 0, heap.info.dispatchModule <= greatestModule else {
      return nil
    }
    var records = Bits(count: heap.blocks.count)
    var isEmpty = true
    for thread in heap.info.threads where thread.tlsBase != 0 {
      let vector = heap.memory.word(at: thread.tlsBase &+ 8)
      let variables = heap.memory.word(at: vector &+ 16 &* heap.info.dispatchModule)
      guard vector != 0, variables != 0 else { continue }
      let first = variables &+ heap.info.dispatchOffset &+ firstRecord
      var address = heap.memory.word(at: first)
      while let block = record(at: address, heap), !records[block] {
        records[block] = true
        isEmpty = false
        address = heap.memory.word(at: address &+ next)
      }
    }
    return isEmpty ? nil : records
  }

  /// The blocks that are records which pass nothing on; nil where there are none.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - isAllocated: Whether a stack is one by which libdispatch allocates; asked of few.
  /// - Returns: A bit for each block.
  static func plainRecords(_ heap: HeapImage, isAllocated: (StackID) -> Bool) -> Bits? {
    guard heap.info.dispatchModule > 0 else { return nil }
    let blocks = heap.blocks
    var records: Bits?
    for block in 0..<blocks.count where blocks.size(of: block) == recordSize {
      let address = blocks.address(of: block)
      // No snapshot keeps flags: these are no pointers.
      guard heap.memory.word(at: address) == 0,
        heap.memory.word(at: address &+ passedOn) | heap.memory.word(at: address &+ owner) != 0,
        isAllocated(blocks.site(of: block).stack)
      else { continue }
      if records == nil { records = Bits(count: blocks.count) }
      records?[block] = true
    }
    return records
  }

  /// The blocks that are records of what a source runs, as that of a timer is.
  ///
  /// They wait in no queue, and are used as they came: with the next one of a list of which they are no more.
  ///
  /// ```
  /// source   +88 what it waits for
  /// that     +40 what it runs at each event   +48 when it is cancelled   +56 when it is registered
  /// ```
  /// - Parameters:
  ///   - heap: The heap.
  ///   - isAllocated: Whether a stack is one by which libdispatch allocates; asked of few.
  /// - Returns: A bit for each block; nil where there are none.
  static func handlers(_ heap: HeapImage, isAllocated: (StackID) -> Bool) -> Bits? {
    guard heap.info.dispatchModule > 0 else { return nil }
    let blocks = heap.blocks
    var records: Bits?
    for source in 0..<blocks.count where blocks.size(of: source) == sourceSize {
      let address = heap.memory.word(at: blocks.address(of: source) &+ 88)
      guard let awaited = block(at: address, heap), let found = handlers(of: awaited, heap),
        isAllocated(blocks.site(of: awaited).stack)
      else { continue }
      if records == nil { records = Bits(count: blocks.count) }
      for handler in found { records?[handler] = true }
    }
    return records
  }

  /// The records that a source runs, by the block with what it waits for; nil where something else is named there, or
  /// nothing.
  private static func handlers(of awaited: Int, _ heap: HeapImage) -> [Int]? {
    let start = heap.blocks.address(of: awaited)
    var found: [Int] = []
    for offset in stride(from: UInt64(40), through: 56, by: 8) {
      let address = heap.memory.word(at: start &+ offset)
      if address == 0 { continue }
      guard let handler = record(at: address, heap) else { return nil }
      found.append(handler)
    }
    return found.isEmpty ? nil : found
  }

  private static let sourceSize: UInt64 = 120

  /// The blocks in which something is kept for a queue by a key: the members of a list of two directions.
  ///
  /// ```
  /// list     +0 lock   +8 first member   +16 last member
  /// member   +0 key    +8 what is kept   +16 function that ends it   +24 next   +32 previous; null at the ends
  /// ```
  /// - Parameters:
  ///   - heap: The heap.
  ///   - isAllocated: Whether a stack is one by which libdispatch allocates; asked of few.
  /// - Returns: Their numbers.
  static func queueSpecifics(
    _ heap: HeapImage, isAllocated: (StackID) -> Bool
  ) -> Set<Int> {
    guard heap.info.dispatchModule > 0 else { return [] }
    let (blocks, memory) = (heap.blocks, heap.memory)
    var found: Set<Int> = []
    for list in 0..<blocks.count where blocks.size(of: list) == listSize {
      let address = blocks.address(of: list)
      let first = memory.word(at: address &+ 8)
      // Many lists may lead to the same chain: only those of libdispatch are followed.
      guard block(at: first, size: memberSize, heap) != nil, memory.word(at: first &+ 32) == 0,
        isAllocated(blocks.site(of: list).stack),
        let members = members(from: first, to: memory.word(at: address &+ 16), heap)
      else { continue }
      found.formUnion(members)
    }
    return found
  }

  /// The blocks of a list by the addresses of its ends; nil where they form none.
  private static func members(from first: UInt64, to last: UInt64, _ heap: HeapImage) -> [Int]? {
    var members: [Int] = []
    var (address, previous): (UInt64, UInt64) = (first, 0)
    while address != 0 {
      guard let block = block(at: address, size: memberSize, heap),
        heap.memory.word(at: address &+ 32) == previous
      else { return nil }
      members.append(block)
      (address, previous) = (heap.memory.word(at: address &+ 24), address)
    }
    return !members.isEmpty && previous == last ? members : nil
  }

  private static let listSize: UInt64 = 24
  private static let memberSize: UInt64 = 40

  /// The block of a record; nil for anything else, as where these variables are not what they were.
  private static func record(at address: UInt64, _ heap: HeapImage) -> Int? {
    block(at: address, size: recordSize, heap)
  }

  private static func block(at address: UInt64, size: UInt64, _ heap: HeapImage) -> Int? {
    block(at: address, heap).flatMap { heap.blocks.size(of: $0) == size ? $0 : nil }
  }

  /// The block that begins at an address.
  private static func block(at address: UInt64, _ heap: HeapImage) -> Int? {
    guard address != 0 else { return nil }
    let block = heap.lookup.block(containing: address)
    return block >= 0 && heap.blocks.address(of: block) == address ? block : nil
  }

  private static let greatestModule: UInt64 = 1 << 20
}
