import Foundation
import Testing
import TraceReader

@testable import Symbolication

/// What Fedora does to each program of its packages.
@Suite("Symbols in .gnu_debugdata")
struct MiniDebugInfoTests {
  private let fixture: Fixture
  private let program: String
  private let hidden: UInt64
  private let exported: UInt64

  init() throws {
    fixture = try Fixture()
    program = try fixture.compile("exported.c", with: "gcc", ["-rdynamic"], to: "program")
    hidden = try Fixture.symbol("hidden_helper", in: program)
    exported = try Fixture.symbol("exported_entry", in: program)
  }

  /// Strips the program and puts a section with the symbols of its functions into it.
  private func strip(damaging damage: (inout Data) -> Void = { _ in }) throws {
    let (mini, names) = (fixture.path("mini"), fixture.path("names"))
    try Data("hidden_helper\n".utf8).write(to: URL(fileURLWithPath: names))
    try Fixture.run("objcopy", ["--only-keep-debug", program, fixture.path("debug")])
    try Fixture.run(
      "objcopy",
      [
        "-S", "--remove-section", ".gdb_index", "--remove-section", ".comment",
        "--keep-symbols=\(names)", fixture.path("debug"), mini,
      ])
    try Fixture.run("xz", [mini])
    var packed = try Data(contentsOf: URL(fileURLWithPath: mini + ".xz"))
    damage(&packed)
    try packed.write(to: URL(fileURLWithPath: mini + ".xz"))
    try Fixture.run("strip", [program])
    try Fixture.run("objcopy", ["--add-section", ".gnu_debugdata=\(mini).xz", program])
  }

  private func names() -> [String?] {
    let symbolicator = ELFSymbolicator(debugDirectories: [])
    return [hidden, exported].map {
      symbolicator.frames($0, in: program).first?.function?.base
    }
  }

  @Test("functions that are not exported have names, and so do those that are")
  func bothTables() throws {
    try strip()
    #expect(names() == ["hidden_helper", "exported_entry"])
  }

  @Test("a damaged section leaves the exported names", arguments: [0, 30, 60])
  func damaged(position: Int) throws {
    try strip { $0[$0.startIndex + position] ^= 0xff }
    #expect(names() == [nil, "exported_entry"])
  }
}
