import Foundation
import Testing
import TraceReader

@testable import Symbolication

@Suite("Separate debug files and build IDs")
struct DebugFileTests {
  private let fixture: Fixture
  private let program: String
  private let address: UInt64
  private let buildID: [UInt8]

  init() throws {
    fixture = try Fixture()
    program = try fixture.compile(
      "inlining.c", with: "gcc", ["-O2", "-g", "-Wl,--build-id"], to: "program")
    address = try Fixture.symbol("probe", in: program)
    buildID = try ELFFile(path: program).buildID
    #expect(buildID.count == 20)
  }

  /// Moves the debug information into a file of its own.
  private func split(to path: String) throws {
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path,
      withIntermediateDirectories: true)
    try Fixture.run("objcopy", ["--only-keep-debug", program, path])
    try Fixture.run("strip", [program])
  }

  private func buildIDPath(in folder: String) -> String {
    let digits = buildID.map(DebugFileLocator.hexadecimal)
    return "\(folder)/.build-id/\(digits[0])/\(digits.dropFirst().joined()).debug"
  }

  @Test("a debug file is found by build ID")
  func byBuildID() throws {
    let folder = fixture.path("debug")
    try split(to: buildIDPath(in: folder))
    let symbolicator = ELFSymbolicator(debugDirectories: [folder])

    let frames = symbolicator.frames(address, in: program)
    #expect(frames.map(\.displayName) == ["innermost", "middle", "outer"])
    #expect(symbolicator.warnings.isEmpty)
  }

  @Test("a debug file serves for an image that is gone or was rebuilt")
  func imageGone() throws {
    let folder = fixture.path("debug")
    try split(to: buildIDPath(in: folder))
    try FileManager.default.removeItem(atPath: program)
    let symbolicator = ELFSymbolicator(debugDirectories: [folder])

    let frames = symbolicator.frames(
      at: Address(address), in: .of(program, buildID: buildID), isExact: true)
    #expect(frames.map(\.displayName) == ["innermost", "middle", "outer"])
    #expect(symbolicator.warnings.isEmpty)
  }

  @Test("a debug file is found by .gnu_debuglink", arguments: ["", ".debug/"])
  func byLink(folder: String) throws {
    let debugFile = fixture.path("\(folder)program.debug")
    try split(to: debugFile)
    try Fixture.run("objcopy", ["--add-gnu-debuglink=\(debugFile)", program])

    let symbolicator = ELFSymbolicator(debugDirectories: [])
    #expect(symbolicator.frames(address, in: program).count == 3)
  }

  @Test("a linked debug file without build ID needs the right checksum", arguments: [true, false])
  func checksum(isRight: Bool) throws {
    let plain = try fixture.compile(
      "inlining.c", with: "gcc", ["-O2", "-g", "-Wl,--build-id=none"], to: "plain")
    let debugFile = fixture.path("plain.debug")
    try Fixture.run("objcopy", ["--only-keep-debug", plain, debugFile])
    try Fixture.run("strip", [plain])
    try Fixture.run("objcopy", ["--add-gnu-debuglink=\(debugFile)", plain])
    if !isRight {
      let handle = try #require(FileHandle(forWritingAtPath: debugFile))
      try handle.seekToEnd()
      handle.write(Data([0]))
    }

    let symbolicator = ELFSymbolicator(debugDirectories: [])
    let frames = symbolicator.frames(try Fixture.symbol("probe", in: program), in: plain)
    #expect((frames[0].function != nil) == isRight)
  }

  @Test("a file of another build gives offsets and one warning")
  func wrongBuild() throws {
    let symbolicator = ELFSymbolicator(debugDirectories: [])
    let image = Image.of(program, buildID: [1, 2, 3])
    for offset in [0, 1, 2] {
      let frames = symbolicator.frames(
        at: Address(address + UInt64(offset)), in: image, isExact: true)
      #expect(frames.count == 1)
      #expect(frames[0].function == nil)
    }

    let onDisk = buildID.map(DebugFileLocator.hexadecimal).joined()
    #expect(
      symbolicator.warnings == [
        SymbolicationWarning(
          imagePath: program, reason: .differentBuild(recorded: "010203", onDisk: onDisk))
      ])
    #expect(symbolicator.warnings[0].description.contains("was rebuilt since the recording"))
  }

  @Test("another file system comes first, this one only with the same build")
  func systemRoot() throws {
    let image = Image.of(program, buildID: buildID)
    let root = fixture.path("root")
    let place = root + program
    func look() -> (name: String, warnings: [SymbolicationWarning]) {
      let symbolicator = ELFSymbolicator(
        debugDirectories: [root + "/usr/lib/debug"], root: SystemRoot(folder: root))
      let frames = symbolicator.frames(at: Address(address), in: image, isExact: true)
      return (frames[0].displayName, symbolicator.warnings)
    }
    #expect(look() == ("innermost", []))
    try FileManager.default.createDirectory(
      atPath: URL(fileURLWithPath: place).deletingLastPathComponent().path,
      withIntermediateDirectories: true)
    try Fixture.run("cp", ["/bin/true", place])
    #expect(look() == ("innermost", []))
    try FileManager.default.removeItem(atPath: program)
    let other = look().warnings
    #expect(other.map(\.imagePath) == [place])
    #expect(other[0].isInSystemRoot)
    #expect(other[0].description.contains("was rebuilt since the recording"))
  }

  @Test("a debug file of another file system is found where programs in there find it")
  func linkInSystemRoot() throws {
    let root = fixture.path("root")
    let folder = URL(fileURLWithPath: program).deletingLastPathComponent().path
    let name = "\(program).debug".split(separator: "/").last ?? ""
    let debugFile = "\(root)/usr/lib/debug\(folder)/\(name)"
    try split(to: debugFile)
    try Fixture.run("objcopy", ["--add-gnu-debuglink=\(debugFile)", program])
    try FileManager.default.createDirectory(
      atPath: root + folder, withIntermediateDirectories: true)
    try Fixture.run("mv", [program, root + program])
    let symbolicator = ELFSymbolicator(
      debugDirectories: [root + "/usr/lib/debug"], root: SystemRoot(folder: root))
    let frames = symbolicator.frames(
      at: Address(address), in: .of(program, buildID: buildID), isExact: true)
    #expect(frames.map(\.displayName) == ["innermost", "middle", "outer"])
    #expect(symbolicator.warnings.isEmpty)
  }

  @Test("a missing file and one that is not ELF give one warning each")
  func unusable() throws {
    let text = fixture.path("text.so")
    try Data("hello".utf8).write(to: URL(fileURLWithPath: text))
    let symbolicator = ELFSymbolicator(debugDirectories: [])
    for path in ["/nonexistent/lib.so", text, fixture.folder.path, "/nonexistent/lib.so"] {
      #expect(symbolicator.frames(0x10, in: path)[0].function == nil)
    }
    #expect(
      symbolicator.warnings.map(\.reason) == [
        .missingFile, .notELF, .unreadable("not a regular file"),
      ])
  }

  @Test("a file without build ID that is newer than the trace is doubtful")
  func newer() throws {
    let plain = try fixture.compile(
      "inlining.c", with: "gcc", ["-Wl,--build-id=none"], to: "plain")
    let symbolicator = ELFSymbolicator(debugDirectories: [], recordedAt: 1)
    let outer = try Fixture.symbol("outer", in: plain)
    #expect(symbolicator.frames(outer, in: plain)[0].displayName == "outer")
    #expect(symbolicator.warnings.map(\.reason) == [.newerThanTrace])
  }
}
