import Testing
import TraceReader
import TraceTestSupport

/// Whose code an address is, of images that were loaded where others had been.
@Suite struct ImageMapTests {
  private static func image(
    _ index: UInt32, _ range: Range<UInt64>, from first: UInt32, to end: UInt32? = nil,
    time: Range<UInt64>? = nil
  ) -> Image {
    Image(
      index: index, path: "/lib/\(index).so", loadBias: range.lowerBound,
      start: Address(range.lowerBound), end: Address(range.upperBound),
      textStart: Address(range.lowerBound), textEnd: Address(range.upperBound),
      loadTime: EventTime(time?.lowerBound ?? 0), unloadTime: time.map { EventTime($0.upperBound) },
      firstStack: StackID(first), unloadedFromStack: end.map { StackID($0) })
  }

  @Test func nodesOfOneEraFindTheSameImages() {
    let map = ImageMap(images: [
      Self.image(0, 0x1000..<0x9000, from: 2), Self.image(1, 0x3000..<0x5000, from: 10, to: 20),
      Self.image(2, 0x4000..<0x6000, from: 20, to: 40), Self.image(3, 0x7000..<0x8000, from: 2),
    ])
    func found(_ node: UInt32) -> [UInt32?] {
      (UInt64(0)..<10).map {
        map.image(containing: Address($0 << 12), seenBy: StackID(node))?.index
      }
    }
    let eras = (UInt32(0)..<50).map { map.era(of: StackID($0)) }
    #expect(
      eras == [0, 0] + [Int](repeating: 1, count: 8) + [Int](repeating: 2, count: 10)
        + [Int](repeating: 3, count: 20) + [Int](repeating: 4, count: 10))
    for node in UInt32(1)..<50 where eras[Int(node)] == eras[Int(node) - 1] {
      #expect(found(node) == found(node - 1))
    }
    #expect(ImageMap(images: []).era(of: StackID(7)) == 0)
  }

  @Test func theImageIsTheOneThatWasLoadedLast() {
    let map = ImageMap(images: [
      Self.image(0, 0x1000..<0x9000, from: 2), Self.image(1, 0x3000..<0x5000, from: 10, to: 20),
      Self.image(2, 0x4000..<0x6000, from: 30, to: 40), Self.image(3, 0x7000..<0x7000, from: 2),
    ])
    func index(_ address: UInt64, _ node: UInt32) -> UInt32? {
      map.image(containing: Address(address), seenBy: StackID(node))?.index
    }
    #expect(index(0xfff, 5) == nil)
    #expect(index(0x1000, 1) == nil)
    #expect(index(0x1000, 2) == 0)
    #expect(index(0x4800, 9) == 0)
    #expect(index(0x4800, 10) == 1)
    #expect(index(0x4800, 19) == 1)
    #expect(index(0x4800, 20) == 0)
    #expect(index(0x4800, 35) == 2)
    #expect(index(0x3800, 35) == 0)
    #expect(index(0x7000, 35) == 0)
    #expect(index(0x8fff, 99) == 0)
    #expect(index(0x9000, 99) == nil)
  }

  /// Against a look at each of them.
  @Test(arguments: UInt64(0)..<40) func anyImagesAreFound(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let images = (UInt32(0)..<UInt32.random(in: 0...60, using: &random)).map { index in
      let start = UInt64.random(in: 0...30, using: &random) * 16
      let (first, time) = (index / 2, UInt64(index) * 10)
      let stays = Bool.random(using: &random)
      return Self.image(
        index, start..<start + .random(in: 0...12, using: &random) * 16, from: first,
        to: stays ? nil : first + .random(in: 0...20, using: &random),
        time: time..<time + .random(in: 0...200, using: &random))
    }
    let map = ImageMap(images: images)
    for _ in 0..<400 {
      let address = Address(.random(in: 0...700, using: &random))
      let node = StackID(.random(in: 0...60, using: &random))
      #expect(
        map.image(containing: address, seenBy: node)
          == images.last { $0.contains(address) && $0.wasLoaded(at: node) })
      let time = EventTime(.random(in: 0...800, using: &random))
      #expect(
        map.image(containing: address, at: time)
          == images.last { $0.contains(address) && $0.wasLoaded(at: time) })
    }
  }

  /// A plugin that is loaded again and again, beside a library that stays.
  @Test func imagesThatComeAndGoAreFoundFast() {
    let count: UInt32 = 100_000
    let images =
      [Self.image(0, 0..<0x10_0000, from: 2)]
      + (1..<count).map { index in
        Self.image(index, 0x1000..<0x2000 + UInt64(index), from: index * 4, to: index * 4 + 2)
      }
    let map = ImageMap(images: images)
    var found = 0
    let time = SpentResources.threadTime {
      for index in 1..<count {
        let loaded = map.image(containing: Address(0x1800), seenBy: StackID(index * 4 + 1))
        let unloaded = map.image(containing: Address(0x1800), seenBy: StackID(index * 4 + 3))
        found += loaded?.index == index && unloaded?.index == 0 ? 1 : 0
      }
    }
    #expect(found == Int(count) - 1)
    #expect(time < .seconds(20))
  }
}
