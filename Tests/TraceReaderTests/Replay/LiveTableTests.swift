import Testing
import TraceTestSupport

@testable import TraceReader

@Suite struct LiveTableTests {
  private func entry(_ address: UInt64, _ size: UInt64) -> LiveEntry {
    LiveEntry(address: address, size: size, alignment: 0, time: 0, site: 0, serial: 0)
  }

  /// Compares with a dictionary; few addresses make for much reuse, neighbours for collisions.
  @Test(arguments: [10, 1000, 100_000])
  func behavesLikeADictionary(addresses: UInt64) {
    var random = SeededGenerator(seed: addresses)
    var table = LiveTable()
    var oracle: [UInt64: UInt64] = [:]
    for step in UInt64(0)..<200_000 {
      let address = UInt64.random(in: 0..<addresses, using: &random) &* 16
      if Bool.random(using: &random) {
        #expect(
          table.insert(entry(address, step))?.size == oracle.updateValue(step, forKey: address))
      } else {
        #expect(table.remove(address)?.size == oracle.removeValue(forKey: address))
      }
    }
    #expect(table.count == oracle.count)
    var found: [UInt64: UInt64] = [:]
    table.forEach { found[$0.address] = $0.size }
    #expect(found == oracle)
  }

  @Test func growsToMillions() {
    var table = LiveTable()
    for index in UInt64(0)..<300_000 { _ = table.insert(entry(index &* 0x30, index)) }
    #expect(table.count == 300_000)
    for index in UInt64(0)..<300_000 { #expect(table.remove(index &* 0x30)?.size == index) }
    #expect(table.count == 0)
  }

  @Test func entriesAndEventsAreThirtyTwoBytes() {
    #expect(MemoryLayout<LiveEntry>.stride == 32)
    #expect(MemoryLayout<RawEvent>.stride == 32)
  }

  /// Addresses that are all new: the entries of freed blocks must be taken for others.
  @Test func ofBlocksThatMoveOnForEverNotTooManyAreKept() {
    var table = LiveTable()
    let distance: UInt64 = 40_000
    for index in UInt64(0)..<400_000 {
      #expect(table.insert(entry(index &* 0x30, index)) == nil)
      if index >= distance {
        #expect(table.remove((index - distance) &* 0x30)?.size == index - distance)
      }
    }
    #expect(table.count == Int(distance))
    #expect(table.entryCount <= Int(distance) * 3 / 2)
    var sum: UInt64 = 0
    table.forEach { sum += $0.size }
    #expect(sum == (400_000 - distance..<400_000).reduce(0, +))
  }

  /// Hashes that all lead to the same bucket, as a trace may have them that was made for it: each search
  /// would go through thousands of buckets.
  @Test(ForgedKeys.timeLimit, arguments: [2000, ForgedKeys.count])
  func blocksOfOneBucketAreFound(count: UInt64) {
    var table = LiveTable()
    let addresses = (0..<count).map { $0 &* ForgedKeys.inverse }
    #expect(addresses.allSatisfy { LiveIndex.hash($0) < count })
    #expect(addresses.allSatisfy { table.insert(entry($0, $0 >> 8)) == nil })
    let removed = addresses.shuffled(seed: 3).count {
      table.remove($0)?.size == $0 >> 8 && table.remove($0) == nil
    }
    #expect(removed == addresses.count)
    #expect(table.count == 0)
  }

  @Test(arguments: [(0, 0), (1, 1), (16, 16), (24, 32), (4096, 4096), (1 << 63, 1 << 63)])
  func alignmentSurvives(_ asked: UInt64, _ kept: UInt64) {
    let entry = LiveEntry(
      address: 0, size: .max, alignment: asked, time: 0, site: 0, serial: 0)
    #expect(entry.alignment == kept)
    #expect(entry.size == LiveEntry.greatestSize)
  }
}

extension Array {
  fileprivate func shuffled(seed: UInt64) -> [Element] {
    var random = SeededGenerator(seed: seed)
    return shuffled(using: &random)
  }
}
