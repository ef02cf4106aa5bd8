import Foundation
import Testing
import TraceReader

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

extension DamagedFileTests {
  /// Also where a structure holds itself.
  @Test(
    "changed descriptions of structures give other names, never a trap",
    arguments: 0..<4 as Range<UInt64>)
  func damagedStructures(seed: UInt64) throws {
    let fixture = try Fixture()
    let program = try fixture.compile(
      "members.c", with: seed % 2 == 0 ? "gcc" : "clang", ["-g", "-O0"], to: "program")
    let main = try Fixture.symbol("main", in: program)
    let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: program)))
    let description = try section(".debug_info", of: program)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<150 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        bytes[Int.random(in: description, using: &random)] = UInt8.random(
          in: 0...127, using: &random)
      }
      let damaged = fixture.path("damaged")
      try Data(bytes).write(to: URL(fileURLWithPath: damaged))
      let symbolicator = ELFSymbolicator(debugDirectories: [])
      let image = Image.of(damaged, bias: 0)
      for type in ["struct node", "struct link[]", "Unnamed", "value"] {
        for offset in stride(from: UInt64(0), to: 160, by: 8) {
          let place = MemberPlace(type: type, isCxx: false, size: 160, offset: offset)
          _ = symbolicator.member(at: place, knownTo: Address(main), in: image)
        }
      }
    }
  }

  /// Where a section lies in a file.
  private func section(_ name: String, of program: String) throws -> Range<Int> {
    let lines = try Fixture.run("readelf", ["-SW", program]).split(separator: "\n")
    let line = try #require(lines.first { $0.contains(" \(name) ") })
    let fields = line.split(separator: " ").drop { $0 != name }.map(String.init)
    let start = try #require(Int(fields[3], radix: 16))
    return start..<start + (try #require(Int(fields[4], radix: 16)))
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
