import Testing

@testable import Symbolication

/// Lists of generated functions.
@Suite struct PerfMapTests {
  private func name(_ address: UInt64, _ lines: String...) -> String? {
    PerfMap(Array(lines.joined(separator: "\n").utf8)).function(at: address)?.name
  }

  @Test(
    arguments: [
      (0xfff, nil), (0x1000, "first"), (0x103f, "first"), (0x1040, nil), (0x107f, nil),
      (0x1080, "void [app] Program::Main(string[])"),
      (0x108f, "void [app] Program::Main(string[])"),
      (0x1090, nil), (0, nil), (.max, nil),
    ] as [(UInt64, String?)])
  func functionsEndWhereTheyEnd(address: UInt64, expected: String?) {
    let lines = ["1080 10 void [app] Program::Main(string[])\r", "0x1000 0x40   first "]
    #expect(name(address, lines[0], lines[1]) == expected)
    #expect(name(address, lines[1], lines[0]) == expected)
  }

  @Test func thePartThatIsLeftBelongsToTheEarlierFunction() {
    let lines = ["100 100 old", "140 20 inner", "1f0 40 behind", "f0 18 before"]
    let map = PerfMap(Array(lines.joined(separator: "\n").utf8))
    let expected: [(UInt64, String?, UInt64)] = [
      (0xef, nil, 0), (0xf0, "before", 0xf0), (0x107, "before", 0xf0), (0x108, "old", 0x100),
      (0x13f, "old", 0x100), (0x140, "inner", 0x140), (0x15f, "inner", 0x140),
      (0x160, "old", 0x100), (0x1ef, "old", 0x100), (0x1f0, "behind", 0x1f0),
      (0x22f, "behind", 0x1f0), (0x230, nil, 0),
    ]
    for (address, name, start) in expected {
      #expect(map.function(at: address) == name.map { .init(start: start, name: $0) })
    }
    #expect(name(0x150, "140 20 inner", "100 100 whole") == "whole")
  }

  /// By an owner of each byte, as an oracle.
  @Test(arguments: 0..<20)
  func theLastFunctionHasAnAddress(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var owners = [String?](repeating: nil, count: 400)
    var lines = ""
    for number in 0..<60 {
      let (start, size) = (generator.next() % 300, generator.next() % 90)
      lines += String(start, radix: 16) + " " + String(size, radix: 16) + " f\(number)\n"
      for address in start..<start + size { owners[Int(address)] = "f\(number)" }
    }
    let map = PerfMap(Array(lines.utf8))
    for (address, owner) in owners.enumerated() {
      #expect(map.function(at: UInt64(address))?.name == owner, "\(address)")
    }
  }

  @Test(arguments: [
    "", "\n\n", "1000", "1000 ", "1000 10", "1000 10 ", "1000 0 empty", "-1000 10 sign",
    "1000 +10 sign", "x 10 f", "1000 f", "10000000000000000 10 large", " 1000 10 f",
  ])
  func linesThatSayNothingArePassedOver(line: String) {
    #expect(name(0x1000, line) == nil)
    #expect(name(0x1000, line, "1000 8 f", line) == "f")
  }

  @Test func thereIsNoAddressBehindTheLastOne() {
    #expect(name(.max - 1, "fffffffffffffff0 ffff f") == "f")
    #expect(name(0, "fffffffffffffff0 ffff f") == nil)
  }

  @Test func longNamesAreCut() {
    #expect(name(0x10, "10 1 " + String(repeating: "n", count: 5000))?.utf8.count == 4096)
    let map = PerfMap([UInt8]("10 1 a".utf8) + [0xff, 0x62])
    #expect(map.function(at: 0x10)?.name == "a\u{fffd}b")
  }
}
