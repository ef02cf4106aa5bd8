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
/// blocks from a call so close, there may be few, if all of them have pointers to the same place; so there may be of
/// each of several such calls.
///
/// It may also call a function that allocates for others besides, as MPFR does those of GMP: what has been said goes for
/// the calls of that function then.
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
    // As on a stack, what is left of a call of the allocator may be in the frames of async functions.
    for root in roots where !root.mayHaveLeftovers {
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

/// Where pointers lead to in the blocks that come from some calls of allocator functions.
private struct Callers {
  private let blocks: HeapBlocks
  /// For each site its calls, the innermost first; none where they are of no interest.
  private var calls: [[UInt64]]
  /// For each site how many words lead to the beginnings of its blocks.
  private var beginnings: [Int]
  /// For each block the places that something leads to.
  private var places: [Int: UInt16] = [:]

  private(set) var isEmpty = true

  /// Looks for calls from which enough possible leaks come.
  init(_ blocks: HeapBlocks, _ reachability: Reachability, _ facts: StackFacts, least: Int) {
    self.blocks = blocks
    calls = Array(repeating: [], count: blocks.sites.count)
    beginnings = Array(repeating: 0, count: blocks.sites.count)
    let counts = Self.possibleLeaks(blocks, reachability, facts)
    let ordered = counts.sorted { $0.key < $1.key }
    let addresses = ordered.map(\.key)
    let wanted = Set(
      addresses.filter { address in
        ordered[CallsBeside.range(of: address, in: addresses)].reduce(0) { $0 + $1.value } >= least
      })
    guard !wanted.isEmpty else { return }
    for (index, site) in blocks.sites.enumerated() {
      let all = facts.calls(site.stack)
      if let call = all.first, wanted.contains(call) { calls[index] = all }
    }
    isEmpty = false
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

  /// Notes a pointer.
  ///
  /// Where it is doubtful for another reason, as in an array of bytes, it may have been left there.
  mutating func note(_ value: UInt64, to target: EdgeScanner.Target) {
    let block = target.block
    let site = blocks.siteIndex(of: block)
    guard !calls[site].isEmpty else { return }
    let start = blocks.address(of: block)
    guard value != start else {
      if target.edgeClass == .start { beginnings[site] += 1 }
      return
    }
    places[block, default: 0] |= value > start ? Places.place(at: value &- start) : Places.other
  }

  /// For each site the places that most of the blocks have pointers to which come from there by the same calls.
  ///
  /// First the innermost call is asked, which is of the allocator. Where some of its blocks are held by their
  /// beginnings, it may be in a function that allocates for others: then its callers are, and theirs.
  func places(least: Int) -> [UInt16] {
    var placesBySite: [[UInt16]] = Array(repeating: [], count: calls.count)
    for (block, places) in places { placesBySite[blocks.siteIndex(of: block)].append(places) }
    var found = Array(repeating: UInt16(0), count: calls.count)
    var sites = calls.indices.filter { !calls[$0].isEmpty }
    var depth = 1
    while !sites.isEmpty {
      let groups = Dictionary(grouping: sites) { Array(calls[$0].prefix(depth)) }
        .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        .map { call, sites in
          CallPlaces(
            call: call, sites: sites, beginnings: sites.reduce(0) { $0 + beginnings[$1] },
            places: sites.flatMap { placesBySite[$0] },
            isMalloc: sites.allSatisfy { blocks.sites[$0].operation.family == .malloc })
        }
      let all = CallsBeside(groups, least: least).places
      for (group, places) in zip(groups, all) {
        for site in group.sites { found[site] = places }
      }
      sites = zip(groups, all).filter { $1 == 0 && $0.beginnings > 0 }.flatMap { $0.0.sites }
      depth += 1
      sites.removeAll { calls[$0].count < depth }
    }
    return found
  }
}

/// Where pointers lead to in the blocks from one call.
private struct CallPlaces {
  /// The call, and perhaps those around it.
  let call: [UInt64]
  /// The sites of its blocks.
  let sites: [Int]
  /// How many words lead to the beginnings of blocks.
  let beginnings: Int
  /// For each block that something leads into, the places.
  let places: [UInt16]
  /// Whether all blocks are of `malloc`.
  let isMalloc: Bool

  /// The address of the outermost call.
  var address: UInt64 { call.last ?? 0 }

  /// The places that most of the blocks have pointers to.
  func ofMost(least: Int) -> UInt16 {
    guard places.count >= least, beginnings * 100 <= places.count else { return 0 }
    func count(_ some: UInt16) -> Int { places.count { $0 & some != 0 } }
    func isOfMost(_ some: UInt16) -> Bool { count(some) * 4 >= places.count * 3 }
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

  /// The only place that pointers lead to; 0 where there is none.
  var only: UInt16 {
    guard let place = places.first, beginnings == 0, isMalloc, Places.handedOut.contains(place),
      places.allSatisfy({ $0 == place })
    else { return 0 }
    return place
  }
}

/// Calls that are so close to each other that they are of one allocator.
private struct CallsBeside {
  /// For each call the places that most of its blocks have pointers to; where these are few, the only place, if that is
  /// the one of a call beside, or all beside that have no other place have enough blocks together.
  let places: [UInt16]

  /// - Parameters:
  ///   - groups: What is known of each call.
  ///   - least: How many blocks are enough.
  init(_ groups: [CallPlaces], least: Int) {
    let found = groups.map { $0.ofMost(least: least) }
    let order = groups.indices.sorted { groups[$0].address < groups[$1].address }
    let addresses = order.map { groups[$0].address }
    places = groups.indices.map { call in
      guard found[call] == 0, groups[call].only != 0 else { return found[call] }
      let place = groups[call].only
      let beside = order[Self.range(of: groups[call].address, in: addresses)]
      let isKnown = beside.contains { found[$0] == place }
      let count = beside.reduce(0) { $0 + (groups[$1].only == place ? groups[$1].places.count : 0) }
      return isKnown || count >= least ? place : 0
    }
  }

  /// Which of some ascending addresses are less than the size of an allocator's code from one.
  static func range(of address: UInt64, in addresses: [UInt64]) -> Range<Int> {
    let first = addresses.partitioningIndex { $0 > address &- min(address, farthest) }
    let end = addresses.partitioningIndex { $0 >= address &+ farthest }
    return first..<max(first, end)
  }

  /// The functions of an allocator are less than that apart.
  private static let farthest: UInt64 = 4096
}
