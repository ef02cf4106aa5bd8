import Foundation
import Testing

@testable import Symbolication

@Suite("Damaged ELF and DWARF files")
struct DamagedFileTests {
  @Test("cut and changed files give fewer names, never a trap", arguments: 0..<8 as Range<UInt64>)
  func damage(seed: UInt64) throws {
    let fixture = try Fixture()
    let program = try fixture.compile(
      "inlining.c", with: seed % 2 == 0 ? "gcc" : "clang",
      ["-O2", "-g", "-gdwarf-\(4 + seed / 4)"],
      to: "program")
    let probe = try Fixture.symbol("probe", in: program)
    let original = try Data(contentsOf: URL(fileURLWithPath: program))
    var random = SeededGenerator(seed: seed)
    for round in 0..<150 {
      var bytes = [UInt8](original)
      if round % 3 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
      for _ in 0..<Int.random(in: 1...64, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
          in: .min ... .max, using: &random)
      }
      let damaged = fixture.path("damaged")
      try Data(bytes).write(to: URL(fileURLWithPath: damaged))
      let symbolicator = ELFSymbolicator(debugDirectories: [])
      for offset in stride(from: 0, to: 0x400, by: 16) {
        let address = probe &- 0x200 &+ UInt64(offset)
        #expect(!symbolicator.frames(address, in: damaged).isEmpty)
      }
      _ = ExecutableInspection(command: damaged, searchPath: nil)
    }
  }
}

/// A generator whose numbers follow from its seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }
}
