import CInterpose
import Testing
import TraceTestSupport

/// Which words of a page a snapshot keeps.
@Suite struct SnapshotKeeperTests {
  private static let wordsOfPage = Int(MT_PAGE_SIZE) / 8

  /// Mappings that pointers may lead to: of an executable at a fixed address, two that touch, one
  /// across addresses whose upper bits differ, and a stack.
  private static let mappings: [Range<UInt64>] = [
    0x40_0000..<0x40_3000,
    0x5555_0000_0000..<0x5555_0004_0000,
    0x5555_0004_0000..<0x5555_0005_0000,
    0x7f3f_ffff_0000..<0x7f40_0002_0000,
    0x7ffc_1234_5000..<0x7ffc_1236_6000,
  ]
  private static let slab: UInt64 = 0x40_1008
  /// Of a side table whose object is freed.
  private static let countsOfFreed: UInt64 = 0x1_0000_0001

  /// The recorder's.
  private final class Keeper {
    private let keeper = UnsafeMutablePointer<mt_keeper>.allocate(capacity: 1)
    private let spans: UnsafeMutablePointer<mt_span>

    init(_ mappings: [Range<UInt64>], slab: UInt64 = 0, keepsAll: Bool = false) {
      spans = .allocate(capacity: mappings.count)
      var regions = mappings.map {
        mt_region(
          start: $0.lowerBound, end: $0.upperBound, source: MT_PAGES_PRIVATE.rawValue, is_target: 1)
      }
      regions.withUnsafeMutableBufferPointer {
        var list = mt_region_list(regions: $0.baseAddress, count: $0.count, skipped_bytes: 0)
        mt_keeper_begin(keeper, &list, spans, keepsAll)
      }
      keeper.pointee.slab = slab
    }

    deinit {
      keeper.deallocate()
      spans.deallocate()
    }

    /// The places of the words that are kept.
    func kept(_ page: UInt64, _ words: UnsafePointer<UInt64>) -> [Int] {
      var bits = [UInt64](repeating: .max, count: wordsOfPage / 64)
      let isAny = mt_keeper_select(keeper, page, words, &bits)
      let places = (0..<wordsOfPage).filter { bits[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
      #expect(isAny == !places.isEmpty)
      return places
    }
  }

  /// The same, word by word.
  private struct Definition {
    let slab: UInt64
    private var end: UInt64 = 0
    private var otherHalf: UInt64 = 0

    init(slab: UInt64) {
      self.slab = slab
    }

    /// Whether an address is in a mapping, or in front of one that is not where numbers lead to.
    private func isMapped(_ address: UInt64) -> Bool {
      mappings.contains {
        let size = $0.lowerBound < 1 << 32 ? 0 : UInt64($0.count)
        return ($0.lowerBound - size..<$0.upperBound).contains(address)
      }
    }

    private func canPoint(_ word: UInt64) -> Bool {
      isMapped(word & 0x7fff_ffff_fff8)
        || word >> 62 == 3 && word & 0x3fff_0000_0000_0000 == 0 && isMapped(word << 3)
    }

    private func canCount(_ word: UInt64) -> Bool {
      guard word & 1 == 1 else { return false }
      if UInt32(truncatingIfNeeded: word) == .max { return true }
      return 1..<(1 << 20) ~= word >> 1 & 0x7fff_ffff && word >> 33 < 1 << 24
    }

    private func isExpired(_ word: UInt64) -> Bool {
      UInt32(truncatingIfNeeded: word) == 0 && 1..<(1 << 20) ~= word >> 32
    }

    private func countsOwners(_ word: UInt64) -> Bool {
      1..<(1 << 16) ~= word & 0xffff_ffff && 1..<(1 << 16) ~= word >> 32
    }

    /// Whether a word can point; what is on the next page may.
    private func leads(_ words: [UInt64], _ place: Int) -> Bool {
      place == words.count || canPoint(words[place])
    }

    /// Whether a word is an address, perhaps with tags; what is on the next page is none.
    private func leadsOn(_ words: [UInt64], _ place: Int) -> Bool {
      place < words.count && isMapped(words[place] & 0x7fff_ffff_fff8)
    }

    private func isOtherHalf(_ words: ArraySlice<UInt64>) -> Bool {
      let counts = words.first ?? 0
      return (canCount(counts) || counts == countsOfFreed)
        && UInt32(truncatingIfNeeded: words.dropFirst().first ?? 0) != 0
    }

    mutating func kept(_ page: UInt64, _ words: [UInt64]) -> [Int] {
      if otherHalf == page && isOtherHalf(words[...]) { end = max(end, page + 16) }
      var places: [Int] = []
      for (place, word) in words.enumerated() where word != 0 {
        let address = page + UInt64(place) * 8
        let follows = place > 0 && canPoint(words[place - 1])
        let counts =
          follows
          && (canCount(word) || countsOwners(word)
            || isExpired(word) && (place % 2 == 1 || leads(words, place + 1)))
        let isLength = follows && words[place - 1] == address + 8 && leadsOn(words, place + 2)
        let isText =
          place > 1 && words[place - 2] == address && canPoint(address) && leadsOn(words, place + 1)
        let isImmortal = word == UInt32.max && leads(words, place + 1)
        if canPoint(word) || counts || isLength || isText || isImmortal || address < end {
          places.append(place)
        }
        if canPoint(word) { follow(address, words[place...]) }
      }
      return places
    }

    private mutating func follow(_ address: UInt64, _ words: ArraySlice<UInt64>) {
      if words.first == slab {
        end = max(end, address + 24)
      } else if address % 16 == 0 {
        if words.count == 2 {
          otherHalf = address + 16
        } else if isOtherHalf(words.dropFirst(2)) {
          end = max(end, address + 32)
        }
      }
    }
  }

  private static func word(_ generator: inout SeededGenerator) -> UInt64 {
    let mapping = mappings[Int(generator.next() % UInt64(mappings.count))]
    let pointer = mapping.lowerBound + generator.next() % UInt64(mapping.count)
    switch generator.next() % 21 {
    case 0..<6: return 0
    case 6, 7: return pointer
    case 8: return pointer & ~7
    case 9: return pointer | generator.next() << 47
    case 10: return 3 << 62 | pointer >> 3
    case 11: return 3 << 62 | pointer >> 3 | 1 << (44 + generator.next() % 18)
    case 12: return mapping.upperBound + generator.next() % 32
    case 13:
      let before = generator.next() % 2 == 0 ? 0 : UInt64(mapping.count)
      return mapping.lowerBound - min(before, mapping.lowerBound) - 1 - generator.next() % 32
    case 14: return 1 << 33 | 3
    case 15: return (generator.next() % (1 << 26)) << 33 | generator.next() % (1 << 23) | 1
    case 16: return generator.next() << 32 | 0xffff_ffff
    case 17: return slab
    case 18: return generator.next() % 2 == 0 ? countsOfFreed : generator.next() % 1000
    case 19: return (generator.next() % (1 << 22)) << 32 | generator.next() % 2
    default: return generator.next()
    }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func aPageKeepsWhatTheDefinitionSays(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let slab = seed % 2 == 0 ? Self.slab : 0
    let keeper = Keeper(Self.mappings, slab: slab)
    var definition = Definition(slab: slab)
    var kept = 0
    for number in 0..<200 as Range<UInt64> {
      let page = 0x5555_0000_0000 + number * UInt64(MT_PAGE_SIZE)
      var words = (0..<Self.wordsOfPage).map { _ in Self.word(&generator) }
      for place in stride(from: 1, to: words.count - 3, by: 37) {
        words[place] = page + UInt64(place) * 8 + 16
        words[place + 1] = generator.next() % 10
        words[place + 2] = generator.next() % 0x4142
        words[place + 3] = place % 3 == 0 ? page : words[place + 3]
      }
      let expected = definition.kept(page, words)
      #expect(keeper.kept(page, words) == expected, "page \(number)")
      kept += expected.count
    }
    #expect(kept > 200 * Self.wordsOfPage / 4)
  }

  @Test func theLengthsAndTextsOfShortStringsAreKeptInFrontOfWhatCanPoint() {
    let keeper = Keeper(Self.mappings)
    let page = Self.mappings[1].lowerBound
    var words = [UInt64](repeating: 0, count: Self.wordsOfPage)
    for (place, length) in [(0, 4), (8, 4), (16, 0), (32, 4), (Self.wordsOfPage - 3, 4)] {
      words[place] = page + UInt64(place) * 8 + 16
      words[place + 1] = UInt64(length)
      words[place + 2] = 0x6463_6261
    }
    // Nothing that could point is left behind the second.
    (words[3], words[11], words[19], words[35]) = (page, 0x65, page, page)
    // Not the address of what is two words further on.
    (words[24], words[25], words[26], words[27]) = (page, 4, 0x6463_6261, page)
    #expect(
      keeper.kept(page, words)
        == [0, 1, 2, 3, 8, 16, 18, 19, 24, 27, 32, 33, 34, 35, Self.wordsOfPage - 3])
  }

  @Test func theCountsOfAnExpiredWeakPointerAreKept() {
    let keeper = Keeper(Self.mappings)
    let page = Self.mappings[1].lowerBound
    var words = [UInt64](repeating: 0, count: Self.wordsOfPage)
    words.replaceSubrange(4..<7, with: [page, 1 << 32, page])
    words.replaceSubrange(12..<15, with: [page, 1 << 32, 5])
    words.replaceSubrange(15..<18, with: [page, 1 << 32, 5])
    words.replaceSubrange(25..<28, with: [page, 1 << 32, page])
    words.replaceSubrange(20..<23, with: [page, 1 << 52, page])
    words[Self.wordsOfPage - 2] = page
    words[Self.wordsOfPage - 1] = 7 << 32
    #expect(
      keeper.kept(page, words)
        == [
          4, 5, 6, 12, 13, 15, 20, 22, 25, 26, 27, Self.wordsOfPage - 2, Self.wordsOfPage - 1,
        ])
  }

  @Test func theCountsOfOwnersAreKept() {
    let keeper = Keeper(Self.mappings)
    let page = Self.mappings[1].lowerBound
    var words = [UInt64](repeating: 0, count: Self.wordsOfPage)
    for (place, counts) in [1 << 32 | 1, 7 << 32 | 2, 1 << 48 | 1, 1 << 32 | 1 << 16, 8]
      .enumerated()
    {
      words[place * 4] = page
      words[place * 4 + 1] = UInt64(counts)
    }
    words[Self.wordsOfPage - 1] = 1 << 32 | 2
    #expect(keeper.kept(page, words) == [0, 1, 4, 5, 8, 12, 16])
  }

  @Test func aSideTableAcrossTwoPagesIsKeptWhole() {
    let keeper = Keeper(Self.mappings)
    let page = Self.mappings[1].lowerBound
    var first = [UInt64](repeating: 0, count: Self.wordsOfPage)
    first[Self.wordsOfPage - 2] = page
    var second = [UInt64](repeating: 0, count: Self.wordsOfPage)
    second[0] = 3
    second[1] = 7
    second[2] = 7
    #expect(keeper.kept(page, first) == [Self.wordsOfPage - 2])
    #expect(keeper.kept(page + UInt64(MT_PAGE_SIZE), second) == [0, 1])
  }

  /// A page of this process that holds no address; the caller gives it back.
  private static func pageOfNumbers() -> (address: UInt64, words: UnsafeMutablePointer<UInt64>) {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: Int(MT_PAGE_SIZE), alignment: Int(MT_PAGE_SIZE))
    let words = memory.bindMemory(to: UInt64.self, capacity: wordsOfPage)
    words.initialize(repeating: 4, count: wordsOfPage)
    return (UInt64(UInt(bitPattern: memory)), words)
  }

  /// The header, and the bits that say which of 128 buckets are in use.
  @Test func aTableOfASetIsKeptUpToItsBuckets() {
    let (page, words) = Self.pageOfNumbers()
    defer { words.deallocate() }
    let object = page + 160
    words[20] = page
    words[21] = 3
    words[22] = 90
    words[23] = 96
    words[24] = 7
    words[26] = object + 72
    let mapping = page..<page + UInt64(MT_PAGE_SIZE)
    #expect(Keeper([mapping]).kept(page, words) == [20, 21, 22, 23, 24, 25, 26, 27, 28])
    // Of a copy, what else belongs to the object cannot be asked.
    let copy = Array(UnsafeBufferPointer(start: words, count: Self.wordsOfPage))
    #expect(Keeper([mapping]).kept(page, copy) == [20, 21, 26])
  }

  /// Maps of items and children, capacity and what is left of it, of a node of a tree.
  @Test(
    arguments: [
      (0x5, 0xc000_0000, 96, 32, true), (0x5, 0xc000_0000, 96, 48, true),
      (0x0, 0x8000_0000, 96, 80, true), (0x7, 0xc000_0000, 96, 31, true),
      (0xc000_0000, 0xc000_0000, 96, 80, false), (0x5, 0xc000_0000, 96, 96, false),
      (0x5, 0xc000_0000, 96, 33, false), (0x0, 0xc000_0000, 96, 48, false),
      (0x5, 0xc000_0000, 96, 97, false), (0x5, 0xc000_0000, 96, 64, false),
      (0x5, 0xc000_0000, 88, 24, false),
    ] as [(UInt64, UInt64, UInt64, UInt64, Bool)])
  func theHeaderOfANodeIsKept(
    items: UInt64, children: UInt64, capacity: UInt64, unused: UInt64, isKept: Bool
  ) {
    let (page, words) = Self.pageOfNumbers()
    defer { words.deallocate() }
    words[20] = page
    words[21] = 3
    words[22] = items | children << 32
    words[23] = capacity | unused << 32
    let places = isKept ? [20, 21, 22, 23] : [20, 21]
    #expect(Keeper([page..<page + UInt64(MT_PAGE_SIZE)]).kept(page, words) == places)
  }

  /// Capacity, count, and first slot in use of a deque.
  @Test(
    arguments: [
      ([8, 3, 6], true), ([8, 8, 8], true), ([8, 0, 0], true), ([20, 16, 6], true),
      ([0, 0, 0], false), ([8, 9, 0], false), ([8, 3, 9], false), ([1 << 40 + 1, 3, 6], false),
    ] as [([UInt64], Bool)])
  func theHeaderOfADequeIsKept(header: [UInt64], isKept: Bool) {
    let (page, words) = Self.pageOfNumbers()
    defer { words.deallocate() }
    words[20] = page
    words[21] = 3
    for (number, word) in header.enumerated() { words[22 + number] = word }
    let places = isKept ? [20, 21, 22, 23, 24].filter { words[$0] != 0 } : [20, 21]
    #expect(Keeper([page..<page + UInt64(MT_PAGE_SIZE)]).kept(page, words) == places)
  }

  /// Parts of arrays that grow without moving are found by words that lead in front of them.
  @Test(
    arguments: [
      (0x7f00_0001_0000..<0x7f00_0003_0000, 0x7eff_ffff_0000..<0x7f00_0003_0000),
      (0x1_0001_0000..<0x1_0003_0000, 0x1_0000_0000..<0x1_0003_0000),
      (0x1_0000_0000..<0x1_0003_0000, 0x1_0000_0000..<0x1_0003_0000),
      (0x40_1000..<0x40_3000, 0x40_1000..<0x40_3000),
    ] as [(Range<UInt64>, Range<UInt64>)])
  func whatLeadsInFrontOfAMappingIsKept(mapping: Range<UInt64>, reach: Range<UInt64>) {
    let (page, words) = Self.pageOfNumbers()
    defer { words.deallocate() }
    words[20] = reach.lowerBound - 8
    words[30] = reach.lowerBound
    words[40] = mapping.lowerBound
    words[50] = reach.upperBound - 8
    words[60] = reach.upperBound
    #expect(Keeper([mapping]).kept(page, words) == [30, 40, 50])
  }

  @Test func aLargeMappingReachesBeyondThoseBelowIt() {
    let (page, words) = Self.pageOfNumbers()
    defer { words.deallocate() }
    words[20] = 0x7eff_f000_0000 - 8
    words[30] = 0x7eff_f000_0000
    words[40] = 0x7eff_ffff_0000
    words[50] = 0x7f00_0000_5000
    let mappings: [Range<UInt64>] = [
      0x7f00_0000_0000..<0x7f00_0000_1000, 0x7f00_1000_0000..<0x7f00_3000_0000,
    ]
    #expect(Keeper(mappings).kept(page, words) == [30, 40, 50])
  }

  @Test func allThatIsNotZeroIsKeptOnRequest() {
    let keeper = Keeper(Self.mappings, keepsAll: true)
    let words = (0..<Self.wordsOfPage).map { $0 % 3 == 0 ? 0 : UInt64($0) }
    #expect(keeper.kept(0x1000, words) == (0..<Self.wordsOfPage).filter { $0 % 3 != 0 })
  }
}
