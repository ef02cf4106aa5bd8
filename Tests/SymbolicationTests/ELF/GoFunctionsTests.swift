import Foundation
import Testing
import TraceReader

@testable import Symbolication

@Suite("The functions of programs that Go has compiled")
struct GoFunctionsTests {
  private let fixture: Fixture

  init() throws {
    fixture = try Fixture()
  }

  private func program(_ options: [String]) throws -> String {
    try fixture.compile("go_functions.c", with: "gcc", options, to: "program")
  }

  /// What is known of the code so many bytes behind the first function's beginning: `main.load +0 load.go:7`.
  private func texts(at offsets: [UInt64], in program: String) throws -> [String] {
    let start = try Fixture.symbol("go_text", in: program)
    let stripped = fixture.path("stripped")
    try Fixture.run("strip", ["-o", stripped, program])
    let symbolicator = ELFSymbolicator(debugDirectories: [])
    return offsets.map { offset in
      guard let frame = symbolicator.frames(start + offset, in: stripped).first,
        let function = frame.function, let place = frame.functionOffset
      else { return "none" }
      return [function.base, "+\(place)", frame.location?.description].compactMap(\.self)
        .joined(separator: " ")
    }
  }

  @Test(
    "a stripped program's functions have names, and their code lines",
    arguments: ["-DMAGIC=0xfffffff0", "-DMAGIC=0xfffffff1"], ["-pie", "-no-pie"])
  func stripped(version: String, kind: String) throws {
    let program = try program([version, kind])
    #expect(
      try texts(at: [0, 15, 16, 31, 32, 47, 48], in: program) == [
        "main.load +0 load.go:7", "main.load +15 load.go:7", "main.load +16 cache.go:42",
        "main.load +31 cache.go:42", "main.main +0", "main.main +15", "none",
      ])
  }

  @Test(
    "where the table is another one, or does not say where the code is, there are no names",
    arguments: ["-DMAGIC=0xfffffffb", "-DBASE=0"])
  func unknown(option: String) throws {
    #expect(try texts(at: [0, 16, 32], in: program([option])) == ["none", "none", "none"])
  }

  @Test("damaged tables give other names, never a trap")
  func damaged() throws {
    let program = try program(["-no-pie"])
    let start = try Fixture.symbol("go_text", in: program)
    let original = [UInt8](try Data(contentsOf: URL(fileURLWithPath: program)))
    let name = try #require(Data(original).range(of: Data("main.load".utf8)))
    let table = (name.lowerBound - 73)..<(name.lowerBound + 170)
    var random = SeededGenerator(seed: 1)
    for _ in 0..<400 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: table, using: &random)] =
          [0, 1, 0x7f, 0x80, 0xff].randomElement(
            using: &random) ?? 0
      }
      let damaged = fixture.path("damaged")
      try Data(bytes).write(to: URL(fileURLWithPath: damaged))
      let symbolicator = ELFSymbolicator(debugDirectories: [])
      for offset in stride(from: UInt64(0), to: 64, by: 8) {
        #expect(!symbolicator.frames(start + offset, in: damaged).isEmpty)
      }
    }
  }

  @Test("a stripped program is known to have Go's allocator")
  func allocator() throws {
    let program = try program(["-s"])
    let go = BundledAllocator(name: "Go", symbol: "", replacesMalloc: false)
    #expect(
      ExecutableInspection(command: program, searchPath: nil).findings == [
        ExecutableFinding(kind: .bundledAllocator(go), path: program)
      ])
  }
}
