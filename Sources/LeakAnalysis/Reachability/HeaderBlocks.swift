import TraceReader

/// Blocks of which all owners have another address than that of the beginning: those of allocators that keep a word or
/// two for themselves in front of what they hand out, as SQLite and BoringSSL do with the size, and what owners tag in
/// the lowest bits.
///
/// ```
/// +0 the allocator's own    +8 or +16 what the program gets
/// ```
/// Nothing in a block tells that. But all blocks of such an allocator come from one call of `malloc`: where three
/// quarters of them have pointers to the same place behind their beginnings, and none has one to its beginning, that place
/// is what owners have. The others may be held by the middle besides. Of a hundred blocks, one may have a pointer to its
/// beginning: somewhere a word was left of what had been at its address before.
///
/// A language's runtime may put words of its own behind those, as Free Pascal does in front of a text or an array: then
/// there are several such places, which together three quarters of the blocks have pointers to. Of tags there may be
/// several, too, as of the texts of messages of Protocol Buffers; blocks with these may come from any allocator function.
///
/// Where such an allocator is known, its other calls are, too: the one of `realloc` stands beside that of `malloc`. For
/// blocks from a call so close, there may be few, if all of them have pointers to the same place.
struct HeaderBlocks: Sendable {
  /// For each site the places of its blocks whose addresses their owners have; 0 where that is not known.
  private var starts: [UInt16] = []

  /// Fewer blocks prove nothing.
  private static let leastCount = 4

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
    for block in 0..<scanner.heap.blocks.count where !scanner.hasAsyncFrames(block) {
      let start = scanner.heap.blocks.address(of: block)
      scanner.forEachEdge(of: block) { offset, target in
        callers.note(scanner.heap.memory.word(at: start &+ offset), to: target)
      }
    }
    let words = RootWords(scanner.heap)
    for root in roots {
      // What is left of a call of the allocator may be on a stack, as in the frames of async functions.
      if [.stack, .registers, .signalStack].contains(root.category) { continue }
      words.forEach(of: root) { _, value in
        if let target = scanner.target(of: value) { callers.note(value, to: target) }
      }
    }
    let found = callers.places(least: Self.leastCount)
    if found.contains(where: { $0 != 0 }) { starts = found }
  }

  var isEmpty: Bool { starts.isEmpty }

  /// Whether an owner of a block has the address of what lies at an offset of it, or finds there the address that was
  /// handed out, as in the header behind a page of SQLite's cache.
  func isOwned(_ block: Int, at offset: UInt64, in heap: HeapImage) -> Bool {
    guard !starts.isEmpty else { return false }
    let places = starts[heap.blocks.siteIndex(of: block)] & ~Places.other
    guard places != 0 else { return false }
    if places & Places.place(at: offset) != 0 { return true }
    let start = heap.blocks.address(of: block)
    guard offset & 7 == 0, offset &+ 8 <= heap.blocks.size(of: block) else { return false }
    let handedOut = heap.memory.word(at: start &+ offset) &- start
    return handedOut >= 8 && places & Places.place(at: handedOut) != 0
  }
}

/// Places in a block that pointers lead to, as a set of bits.
private enum Places {
  /// Behind words in front of what is handed out: a bit for each eight bytes.
  static let behindHeaders: [UInt16] = (1...6).map { 1 << $0 }
  /// In front of which allocators keep one or two words.
  static let handedOut = behindHeaders[..<2]
  /// With the tags from 1 to 7.
  static let tagged: [UInt16] = (9...15).map { 1 << $0 }
  /// All others.
  static let other: UInt16 = 1 << 7

  /// The place at an offset that is not 0.
  static func place(at offset: UInt64) -> UInt16 {
    if offset < 8 { return 1 << (8 + UInt16(offset)) }
    return offset & 7 == 0 && offset < 56 ? 1 << UInt16(offset >> 3) : other
  }
}

/// Calls of allocator functions, and where pointers lead to in the blocks that come from them.
private struct Callers {
  private let blocks: HeapBlocks
  /// For each site the number of its call; -1 where that is of no interest.
  private var calls: [Int]
  /// For each call where it is, in ascending order.
  private var addresses: [UInt64] = []
  /// For each call whether it is of `malloc`.
  private var isMalloc: [Bool]
  /// For each call how many words lead to the beginnings of its blocks.
  private var beginnings: [Int]
  /// For each block the places that something leads to.
  private var places: [Int: UInt16] = [:]

  var isEmpty: Bool { beginnings.isEmpty }

  /// Looks for calls from which enough possible leaks come.
  init(_ blocks: HeapBlocks, _ reachability: Reachability, _ facts: StackFacts, least: Int) {
    self.blocks = blocks
    calls = Array(repeating: -1, count: blocks.sites.count)
    (isMalloc, beginnings) = ([], [])
    let counts = Self.possibleLeaks(blocks, reachability, facts)
    let sure = counts.filter { $0.value >= least }.keys.sorted()
    guard !sure.isEmpty else { return }
    addresses = counts.keys.filter { Self.isBeside($0, sure) }.sorted()
    let numbers = Dictionary(
      uniqueKeysWithValues: addresses.enumerated().map { ($0.element, $0.offset) })
    isMalloc = Array(repeating: true, count: numbers.count)
    beginnings = Array(repeating: 0, count: numbers.count)
    for (index, site) in blocks.sites.enumerated() {
      guard let call = facts.allocatingCall(site.stack).flatMap({ numbers[$0] }) else { continue }
      calls[index] = call
      if site.operation.family != .malloc { isMalloc[call] = false }
    }
  }

  /// How many possible leaks come from each call.
  private static func possibleLeaks(
    _ blocks: HeapBlocks, _ reachability: Reachability, _ facts: StackFacts
  ) -> [UInt64: Int] {
    var possible: [Int] = Array(repeating: 0, count: blocks.sites.count)
    for block in 0..<blocks.count where reachability.state(of: block) == .possible {
      possible[blocks.siteIndex(of: block)] += 1
    }
    var counts: [UInt64: Int] = [:]
    for (site, count) in possible.enumerated() where count > 0 {
      let call = facts.allocatingCall(blocks.sites[site].stack)
      if let call { counts[call, default: 0] += count }
    }
    return counts
  }

  /// Whether a call is one of some others, or so close to one that it is of the same allocator.
  private static func isBeside(_ call: UInt64, _ others: [UInt64]) -> Bool {
    let next = others.partitioningIndex { $0 >= call }
    return others[max(next - 1, 0)..<min(next + 1, others.count)].contains {
      max($0, call) - min($0, call) < farthest
    }
  }

  /// The functions of an allocator are less than that apart.
  private static let farthest: UInt64 = 4096

  /// Notes a pointer.
  ///
  /// Where it is doubtful for another reason, as in an array of bytes, it may have been left there.
  mutating func note(_ value: UInt64, to target: EdgeScanner.Target) {
    let block = target.block
    let call = calls[blocks.siteIndex(of: block)]
    guard call >= 0 else { return }
    let start = blocks.address(of: block)
    guard value != start else {
      if target.edgeClass == .start { beginnings[call] += 1 }
      return
    }
    places[block, default: 0] |= value > start ? Places.place(at: value &- start) : Places.other
  }

  /// For each site the places that most of its call's blocks have pointers to.
  func places(least: Int) -> [UInt16] {
    var blocksByCall: [[UInt16]] = Array(repeating: [], count: beginnings.count)
    for (block, places) in places {
      blocksByCall[calls[blocks.siteIndex(of: block)]].append(places)
    }
    let found = blocksByCall.enumerated().map { call, blocks in
      beginnings[call] * 100 > blocks.count
        ? 0 : Self.places(of: blocks, least: least, isMalloc: isMalloc[call])
    }
    let all = found.indices.map { call in
      found[call] != 0 || beginnings[call] > 0 || !isMalloc[call]
        ? found[call] : placeBeside(call, found, of: blocksByCall[call])
    }
    return calls.map { $0 < 0 ? 0 : all[$0] }
  }

  /// The place of a call beside that all of some blocks have pointers to, and to no other.
  private func placeBeside(_ call: Int, _ found: [UInt16], of blocks: [UInt16]) -> UInt16 {
    guard let place = blocks.first, Places.handedOut.contains(place),
      blocks.allSatisfy({ $0 == place })
    else { return 0 }
    let others = found.indices.filter { found[$0] == place }.map { addresses[$0] }
    return !others.isEmpty && Self.isBeside(addresses[call], others) ? place : 0
  }

  /// The places that most of some blocks have pointers to, by the places that each has pointers to.
  private static func places(of blocks: [UInt16], least: Int, isMalloc: Bool) -> UInt16 {
    guard blocks.count >= least else { return 0 }
    func count(_ places: UInt16) -> Int { blocks.count { $0 & places != 0 } }
    func isOfMost(_ places: UInt16) -> Bool { count(places) * 4 >= blocks.count * 3 }
    func several(_ places: [UInt16]) -> UInt16 {
      let found = places.filter { count($0) >= least }.reduce(0, |)
      return isOfMost(found) ? found : 0
    }
    let tags = several(Places.tagged)
    guard tags == 0, isMalloc else { return tags }
    if let place = Places.handedOut.first(where: isOfMost) { return place }
    guard Places.handedOut.contains(where: { count($0) >= least }) else { return 0 }
    return several(Places.behindHeaders)
  }
}
