import Testing

@testable import LeakAnalysis

/// What headers of Swift's collections say of the elements behind them, whole and damaged.
@Suite struct UsedElementsTests {
  /// A deque at 0 with this header.
  private func deque(_ capacity: UInt64, _ count: UInt64, first: UInt64) -> SwiftDeque? {
    SwiftDeque(at: 0) { [16: capacity, 24: count, 32: first][$0] ?? 0 }
  }

  private func starts(_ elements: UsedElements?, stride: UInt64) -> [UInt64] {
    var found: [UInt64] = []
    elements?.forEachStart(stride: stride) { found.append($0) }
    return found
  }

  @Test func elementsOfADequeGoOnAtItsBeginning() throws {
    let ring = try #require(deque(4, 3, first: 2))
    let elements = ring.elements(start: 40, stride: 8, size: 72)
    #expect(starts(elements, stride: 8) == [56, 64, 40])
    #expect([2, 3, 0, 1].map(ring.index(ofSlot:)) == [0, 1, 2, 3])
    let used = try #require(elements)
    #expect([40, 48, 56, 64].map(used.contains) == [true, false, true, true])
    #expect([32, 40, 48, 56].map(used.isFree) == [false, false, true, false])
  }

  @Test func slotsThatCannotBeWhatWasRequestedSayNothing() throws {
    let ring = try #require(deque(4, 3, first: 2))
    #expect(ring.elements(start: 40, stride: 8, size: 73) == nil)
    #expect(ring.elements(start: 40, stride: 0, size: 72) == nil)
    #expect(ring.elements(start: 40, stride: .max, size: 72) == nil)
    #expect(ring.elements(start: 40, stride: 8, size: 40) == nil)
  }

  @Test(arguments: [
    [0, 0, 0], [4, 5, 0], [4, 3, 5], [0x200_0000_0000, 0, 0], [UInt64.max, .max, .max],
  ])
  func headersThatCannotBeSayNothing(words: [UInt64]) {
    #expect(deque(words[0], words[1], first: words[2]) == nil)
  }

  @Test(arguments: [1, 8, UInt64.max])
  func whereNothingIsInUseNothingIsVisited(stride: UInt64) {
    #expect(starts(UsedElements(32..<32), stride: stride).isEmpty)
  }

  @Test func aNodeHasItsChildrenInFrontAndItsFirstItemAtTheEnd() throws {
    // Two items of 24 bytes and one child in 96 bytes, of which 32 are left.
    let words: [UInt64: UInt64] = [16: 0x2_0000_0005, 24: 0x20_0000_0060]
    let node = try #require(SwiftTreeNode(at: 0) { words[$0] ?? 0 })
    #expect(node.itemStride == 24)
    #expect(node.place(of: 32) == .child(0))
    #expect(node.place(of: 48) == nil)
    #expect(node.place(of: 80) == .item(1, offset: 0))
    #expect(node.place(of: 112) == .item(0, offset: 8))
    #expect(node.place(of: 128) == nil)
    #expect(node.used(upTo: 127) == nil)
    let used = try #require(node.used(upTo: 128))
    #expect([40, 50, 100].map(used.isFree) == [false, true, false])
  }

  /// The same maps; items that do not fill the rest; a child without room; a rest without items; more left than
  /// there is; all bits.
  @Test(arguments: [
    [0x1_0000_0001, 96], [0b11, 97], [0x2_0000_0001, 8], [0x2_0000_0000, 48],
    [0b1, 0x20_0000_0010], [UInt64.max, .max],
  ])
  func headersOfNodesThatCannotBeSayNothing(words: [UInt64]) {
    #expect(SwiftTreeNode(at: 0) { $0 == 16 ? words[0] : $0 == 24 ? words[1] : 0 } == nil)
  }
}
