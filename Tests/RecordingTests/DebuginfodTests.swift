import Foundation
import SystemPackage
import Testing
import TraceTestSupport

/// Debug files from servers: fetched where that is asked for, used later without being asked.
@Suite struct DebuginfodTests {
  private static let build = ["-g", "-O1", "-Wl,--build-id"]

  private let folder: ScratchDirectory

  init() throws {
    folder = try ScratchDirectory()
  }

  private func tool(_ words: String...) throws {
    let run = try ProcessRun.run(["/usr/bin/env"] + words, directory: folder.path)
    try #require(run.status == 0, "\(words): \(run.errorText)")
  }

  private func memtrace(_ words: String..., servers: String? = nil) throws -> ProcessRun {
    try ProcessRun.run(
      [BuiltProducts.memtrace.string] + words,
      environment: TracedRun.minimalEnvironment
        + ["COLUMNS=120", "DEBUGINFOD_CACHE_PATH=\(folder.path)/cache"]
        + (servers.map { ["DEBUGINFOD_URLS=\($0)"] } ?? []),
      directory: folder.path)
  }

  /// Puts a file where a server at `file:///…/server` has the debug file of that build.
  private func serve(_ file: String) throws {
    let notes = try ProcessRun.run(["/usr/bin/env", "readelf", "-n", file], directory: folder.path)
    let line = try #require(
      notes.outputText.split(separator: "\n").first { $0.contains("Build ID") })
    let buildID = try #require(line.split(separator: " ").last)
    try tool("mkdir", "-p", "server/buildid/\(buildID)")
    try tool("cp", file, "server/buildid/\(buildID)/debuginfo")
  }

  private var server: String { "file://\(folder.path)/server" }

  /// Records the program without its symbols, and serves what was taken from it.
  private func recordStripped() throws {
    try tool("cp", try TestProgram("debuginfod.c", flags: Self.build).path.string, "app")
    try tool("objcopy", "--only-keep-debug", "app", "app.debug")
    try tool("strip", "app")
    let recording = try memtrace("record", "-q", "-o", "app.mtrace", "--", "./app")
    try #require(recording.status == 0, "\(recording.errorText)")
  }

  @Test func namesAreFetchedOnceAndKept() throws {
    try recordStripped()
    try serve("app.debug")
    let before = try memtrace("leaks", "app.mtrace", servers: server)
    #expect(before.outputText.contains("ROOT LEAK: <malloc in app+0x"))
    let fetched = try memtrace("leaks", "app.mtrace", "--debuginfod", servers: server)
    #expect(fetched.outputText.contains("ROOT LEAK: <struct request_node 0x"))
    #expect(fetched.errorText == "")
    // Neither the server nor the option is needed any more.
    let after = try memtrace("leaks", "app.mtrace")
    #expect(after.outputText == fetched.outputText)
  }

  @Test func packedTracesTakeThemAlong() throws {
    try recordStripped()
    try serve("app.debug")
    let packing = try memtrace("pack", "-q", "app.mtrace", "--debuginfod", servers: server)
    try #require(packing.status == 0, "\(packing.errorText)")
    try tool("rm", "-r", "cache", "app", "app.mtrace")
    let leaks = try memtrace("leaks", "app.mtrace.zst")
    #expect(leaks.outputText.contains("ROOT LEAK: <struct request_node 0x"))
  }

  @Test func whatDebugFilesShareIsFetchedAsWell() throws {
    try recordStripped()
    let other = try TestProgram("debuginfod.c", flags: ["-g", "-O2", "-Wl,--build-id"])
    try tool("objcopy", "--only-keep-debug", other.path.string, "other.debug")
    try tool("dwz", "-m", "common.debug", "app.debug", "other.debug")
    try serve("app.debug")
    let without = try memtrace("leaks", "app.mtrace", "--debuginfod", servers: server)
    #expect(!without.outputText.contains("struct request_node"))
    try tool("rm", "-r", "cache")
    try serve("common.debug")
    let fetched = try memtrace("leaks", "app.mtrace", "--debuginfod", servers: server)
    #expect(fetched.outputText.contains("ROOT LEAK: <struct request_node 0x"))
  }

  @Test func aServerThatDoesNotAnswerIsSaidOnce() throws {
    try recordStripped()
    // Nothing listens at port 1.
    let run = try memtrace("report", "app.mtrace", "--debuginfod", servers: "http://127.0.0.1:1")
    #expect(run.status == 0)
    #expect(
      run.errorText == "memtrace: no debug files from the servers in DEBUGINFOD_URLS "
        + "(Connection refused): names are missing\n")
    #expect(run.outputText.contains("app+0x"))
  }

  @Test func reportsSayHowCodeGetsNames() throws {
    try recordStripped()
    try serve("app.debug")
    let hint = "memtrace report app.mtrace --debuginfod"
    let before = try memtrace("report", "app.mtrace")
    #expect(before.outputText.contains(hint))
    #expect(before.outputText.contains("# names for the code of app\n"))
    let after = try memtrace("report", "app.mtrace", "--debuginfod", servers: server)
    #expect(after.outputText.contains("keep_node"))
    #expect(!after.outputText.contains("--debuginfod"))
  }

  @Test(arguments: [nil, ""])
  func serversHaveToBeNamed(servers: String?) throws {
    let run = try memtrace("report", "app.mtrace", "--debuginfod", servers: servers)
    #expect(run.status == 64)
    #expect(run.errorText.contains("--debuginfod: DEBUGINFOD_URLS names no server"))
  }
}
