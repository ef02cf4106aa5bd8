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

  @Test func entryIsThirtyTwoBytes() {
    #expect(MemoryLayout<LiveEntry>.stride == 32)
  }

  @Test(arguments: [(0, 0), (1, 1), (16, 16), (24, 32), (4096, 4096), (1 << 63, 1 << 63)])
  func alignmentSurvives(_ asked: UInt64, _ kept: UInt64) {
    let entry = LiveEntry(
      address: 0, size: .max, alignment: asked, time: 0, site: 0, serial: 0)
    #expect(entry.alignment == kept)
    #expect(entry.size == LiveEntry.greatestSize)
  }
}
