import TraceReader

/// The blocks of allocators that keep a word or two for themselves in front of what they hand out, as SQLite and
/// BoringSSL do with the size.
///
/// ```
/// +0 the allocator's own    +8 or +16 what the program gets
/// ```
/// Nothing in a block tells that. But all blocks of such an allocator come from one call of `malloc`: where three
/// quarters of them have pointers to the same place behind their beginnings, and none has one to its beginning, that place
/// is what owners have. The others may be held by the middle besides.
struct HeaderBlocks: Sendable {
  /// For each site where in its blocks begins what their owners have; 0 where that is not known.
  private var starts: [UInt8] = []

  /// Fewer blocks prove nothing.
  private static let leastCount = 4
  private static let places: [UInt8] = [8, 16]

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - scanner: Finds the pointers.
  ///   - reachability: What was reached while none was known.
  ///   - roots: Where more pointers are.
  ///   - facts: Knows the calls of `malloc`.
  /// - Complexity: O(*words*) where there are possible leaks that may be such blocks, else O(*blocks*).
  init(
    _ scanner: EdgeScanner, _ reachability: Reachability, _ roots: [Root], _ facts: StackFacts
  ) {
    var callers = Callers(scanner.heap.blocks, reachability, facts, least: Self.leastCount)
    guard !callers.isEmpty else { return }
    for block in 0..<scanner.heap.blocks.count {
      let start = scanner.heap.blocks.address(of: block)
      scanner.forEachEdge(of: block) { offset, target in
        callers.note(scanner.heap.memory.word(at: start &+ offset), to: target.block)
      }
    }
    let words = RootWords(scanner.heap)
    for root in roots {
      // What is left of a call of the allocator may be on a stack.
      if [.stack, .registers, .signalStack].contains(root.category) { continue }
      words.forEach(of: root) { _, value in
        if let target = scanner.target(of: value) { callers.note(value, to: target.block) }
      }
    }
    let found = callers.places(among: Self.places, least: Self.leastCount)
    if found.contains(where: { $0 != 0 }) { starts = found }
  }

  var isEmpty: Bool { starts.isEmpty }

  /// Whether an owner of a block has the address of what lies at an offset of it.
  func isOwned(_ block: Int, at offset: UInt64, in blocks: HeapBlocks) -> Bool {
    guard !starts.isEmpty else { return false }
    let start = starts[blocks.siteIndex(of: block)]
    return start != 0 && UInt64(start) == offset
  }
}

/// Calls of `malloc`, and where pointers lead to in the blocks that come from them.
private struct Callers {
  private let blocks: HeapBlocks
  /// For each site the number of its call; -1 where that is of no interest.
  private var calls: [Int]
  /// For each call whether something leads to the beginning of one of its blocks.
  private var isDisproved: [Bool]
  /// For each block the places that something leads to, a bit for each eight bytes, as far as there are bits.
  private var places: [Int: UInt8] = [:]

  var isEmpty: Bool { isDisproved.isEmpty }

  /// Looks for calls from which enough possible leaks come.
  init(_ blocks: HeapBlocks, _ reachability: Reachability, _ facts: StackFacts, least: Int) {
    self.blocks = blocks
    calls = Array(repeating: -1, count: blocks.sites.count)
    isDisproved = []
    var counts: [UInt64: Int] = [:]
    var possible: [Int] = Array(repeating: 0, count: blocks.sites.count)
    for block in 0..<blocks.count where reachability.state(of: block) == .possible {
      possible[blocks.siteIndex(of: block)] += 1
    }
    for (site, count) in possible.enumerated() where count > 0 {
      if let call = Self.call(blocks.sites[site], facts) { counts[call, default: 0] += count }
    }
    var numbers: [UInt64: Int] = [:]
    for call in counts.filter({ $0.value >= least }).keys.sorted() { numbers[call] = numbers.count }
    guard !numbers.isEmpty else { return }
    isDisproved = Array(repeating: false, count: numbers.count)
    for (index, site) in blocks.sites.enumerated() {
      calls[index] = Self.call(site, facts).flatMap { numbers[$0] } ?? -1
    }
  }

  private static func call(_ site: Site, _ facts: StackFacts) -> UInt64? {
    site.operation.family == .malloc ? facts.allocatingCall(site.stack) : nil
  }

  /// Notes a pointer.
  mutating func note(_ value: UInt64, to block: Int) {
    let call = calls[blocks.siteIndex(of: block)]
    guard call >= 0, !isDisproved[call] else { return }
    let start = blocks.address(of: block)
    guard value >= start &+ 8 else { return isDisproved[call] = true }
    let place = min(7, (value &- start) >> 3)
    places[block, default: 0] |= value & 7 == 0 ? 1 << UInt8(place) : 1 << 7
  }

  /// For each site the first of some places that most of its call's blocks have pointers to; else 0.
  func places(among wanted: [UInt8], least: Int) -> [UInt8] {
    var counts = Array(
      repeating: Array(repeating: 0, count: wanted.count + 1), count: isDisproved.count)
    for (block, bits) in places {
      let call = calls[blocks.siteIndex(of: block)]
      counts[call][wanted.count] += 1
      for (number, place) in wanted.enumerated() where bits & 1 << (place / 8) != 0 {
        counts[call][number] += 1
      }
    }
    let found = counts.enumerated().map { call, counts -> UInt8 in
      let total = counts[wanted.count]
      guard !isDisproved[call], total >= least else { return 0 }
      return wanted.indices.first { counts[$0] * 4 >= total * 3 }.map { wanted[$0] } ?? 0
    }
    return calls.map { $0 < 0 ? 0 : found[$0] }
  }
}
