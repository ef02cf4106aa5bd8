import Foundation
import Testing
import TraceReader

@testable import Symbolication

@Suite("Debug files that were fetched before")
struct DebuginfodCacheTests {
  @Test(
    "the folder is that of libdebuginfod",
    arguments: [
      (["DEBUGINFOD_CACHE_PATH": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"], "/c/0a1b/debuginfo"),
      (["XDG_CACHE_HOME": "/x", "HOME": "/h"], "/x/debuginfod_client/0a1b/debuginfo"),
      (["HOME": "/h"], "/h/.cache/debuginfod_client/0a1b/debuginfo"),
      (
        ["DEBUGINFOD_CACHE_PATH": "", "XDG_CACHE_HOME": "", "HOME": "/h"],
        "/h/.cache/debuginfod_client/0a1b/debuginfo"
      ),
      (["XDG_CACHE_HOME": "/x", "HOME": "/old"], "/old/.debuginfod_client_cache/0a1b/debuginfo"),
      ([:], nil),
    ])
  func folder(variables: [String: String], path: String?) {
    let cache = DebuginfodCache(
      environment: { variables[$0] }, exists: { $0 == "/old/.debuginfod_client_cache" })
    #expect(cache?.path(ofBuildID: [0x0a, 0x1b]) == path)
  }

  /// What is in the place of the debug file of the program in the cache.
  enum Content: CaseIterable {
    case debugFile, nothing, otherFile
  }

  @Test("only the debug file of that build gives names", arguments: Content.allCases)
  func content(_ content: Content) throws {
    let fixture = try Fixture()
    let program = try fixture.compile(
      "inlining.c", with: "gcc", ["-O2", "-g", "-Wl,--build-id"], to: "program")
    let address = try Fixture.symbol("probe", in: program)
    let cache = DebuginfodCache(folder: fixture.path("cache"))
    let path = cache.path(ofBuildID: try ELFFile(path: program).buildID)
    try FileManager.default.createDirectory(
      at: URL(fileURLWithPath: path).deletingLastPathComponent(),
      withIntermediateDirectories: true)
    switch content {
    case .debugFile: try Fixture.run("objcopy", ["--only-keep-debug", program, path])
    case .nothing: try Data().write(to: URL(fileURLWithPath: path))
    case .otherFile:
      let other = try fixture.compile("exported.c", with: "gcc", ["-g"], to: "other")
      try Fixture.run("objcopy", ["--only-keep-debug", other, path])
    }
    try Fixture.run("strip", [program])

    let symbolicator = ELFSymbolicator(debugDirectories: [], cache: cache)
    let names = symbolicator.frames(address, in: program).map(\.function?.base)
    #expect(names == (content == .debugFile ? ["innermost", "middle", "outer"] : [nil]))
    #expect(symbolicator.warnings.isEmpty)
  }
}
