import Testing
import TraceTestSupport

@testable import TraceReader

/// A table by addresses.
@Suite struct AddressTableTests {
  /// Against a dictionary; few keys, many of them next to each other.
  @Test(arguments: [(seed: UInt64(1), keys: UInt64(12)), (2, 300), (3, 5000)])
  func itIsADictionary(seed: UInt64, keys: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = AddressTable<UInt64>()
    var dictionary: [UInt64: UInt64] = [:]
    for round in UInt64(0)..<30_000 {
      let number = UInt64.random(in: 0..<keys, using: &random)
      let key = number == 0 ? .max : number % 3 == 0 ? number << 40 : number
      // First more come than go, then more go than come.
      if UInt64.random(in: 0..<100, using: &random) < (round < 15_000 ? 70 : 20) {
        table[key] = round
        dictionary[key] = round
      } else {
        #expect(table.removeValue(forKey: key) == dictionary.removeValue(forKey: key))
      }
      #expect(table.count == dictionary.count)
    }
    var values: [UInt64] = []
    table.forEach { values.append($0) }
    #expect(values.sorted() == dictionary.values.sorted())
    for (key, value) in dictionary { #expect(table[key] == value) }
    for key in dictionary.keys { table[key] = nil }
    #expect(table.isEmpty)
    #expect(table.capacity == 8)
  }

  /// As a trace may have them that was made for it: each search would go through all of them.
  @Test(ForgedKeys.timeLimit) func keysOfOnePlaceAreFound() {
    var table = AddressTable<UInt64>()
    let count = ForgedKeys.count
    for number in 0..<count { table[number &* ForgedKeys.inverse] = number }
    #expect(table.count == Int(count))
    let removed = (0..<count).count {
      table.removeValue(forKey: $0 &* ForgedKeys.inverse) == $0
    }
    #expect(removed == Int(count))
    #expect(table.isEmpty)
  }

  @Test func valuesAreChangedInPlace() {
    var table = AddressTable<[Int]>()
    table.update(7) { $0 = [1] }
    table.update(7) { $0?.append(2) }
    table.update(8) { $0?.append(3) }
    #expect(table[7] == [1, 2])
    #expect(table[8] == nil)
    #expect(table.count == 1)
  }
}
