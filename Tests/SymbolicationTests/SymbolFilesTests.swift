import Testing
import TraceReader

@testable import Symbolication

@Suite("Files that several traces need")
struct SymbolFilesTests {
  private let fixture: Fixture
  private let program: String
  private let address: UInt64

  init() throws {
    fixture = try Fixture()
    program = try fixture.compile(
      "inlining.c", with: "gcc", ["-O2", "-g", "-Wl,--build-id"], to: "program")
    address = try Fixture.symbol("probe", in: program)
  }

  private func names(
    _ buildID: [UInt8], _ files: SymbolFiles, marked mark: String = ""
  ) -> ([String], [String]) {
    let symbolicator = ELFSymbolicator(debugDirectories: [], sharing: files)
    let frames = symbolicator.frames(
      at: Address(address), in: .of(program + mark, buildID: buildID), isExact: true)
    return (frames.map(\.displayName), symbolicator.warnings.map(\.description))
  }

  @Test("a file that is open is not opened again")
  func opensOnce() throws {
    let buildID = try ELFFile(path: program).buildID
    let files = SymbolFiles()
    #expect(names(buildID, files) == (["innermost", "middle", "outer"], []))
    #expect(files.count == 1)

    try Fixture.run("rm", [program])
    #expect(names(buildID, files) == (["innermost", "middle", "outer"], []))
    #expect(files.count == 1)
  }

  @Test("each trace is told what is wrong with a file")
  func warnsEachTime() throws {
    let files = SymbolFiles()
    let first = names([1, 2, 3], files)
    #expect(first.1.count == 1)
    #expect(names([1, 2, 3], files) == first)
    #expect(files.count == 1)
  }

  @Test("a program that was replaced while it ran is taken where it is the same again")
  func replacedProgram() throws {
    let buildID = try ELFFile(path: program).buildID
    let mark = " (deleted)"
    #expect(
      names(buildID, SymbolFiles(), marked: mark) == (["innermost", "middle", "outer"], []))
    let others = names([1, 2, 3], SymbolFiles(), marked: mark)
    #expect(others.0.count == 1)
    #expect(others.1.count == 1 && others.1[0].contains("010203"))
    let unknown = names([], SymbolFiles(), marked: mark)
    #expect(unknown.0.count == 1)
    #expect(unknown.1.count == 1 && unknown.1[0].contains("is gone"))
  }

  @Test("without a build ID nothing tells that a file is still the same")
  func noBuildID() throws {
    let files = SymbolFiles()
    _ = names([], files)
    #expect(files.count == 0)
  }

  @Test("a file that eight traces in a row did not need is closed")
  func closesIdleFiles() throws {
    let buildID = try ELFFile(path: program).buildID
    let files = SymbolFiles()
    _ = names(buildID, files)
    for _ in 0..<SymbolFiles.mostIdleTraces { _ = names([7], files) }
    #expect(files.count == 2)
    _ = names([7], files)
    #expect(files.count == 1)
  }
}
