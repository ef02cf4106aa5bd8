import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

@testable import memtrace

/// `pack` and `unpack` of the built executable: what they write, and what they never cost.
@Suite struct PackCommandTests {
  private let directory: ScratchDirectory

  /// A folder with `app.mtrace`.
  init() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x1010, 0x1000])
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.thread(1, tid: 4711, name: "app")
    for index in UInt64(0)..<50 { builder.allocate(0x1_0000 + index * 1008, 1000, stack: stack) }
    directory = try ScratchDirectory()
    try Data(builder.bytes()).write(to: url("app.mtrace"))
  }

  private func url(_ name: String) -> URL {
    URL(filePath: directory.path.appending(name).string)
  }

  private func bytes(_ name: String) throws -> Data { try Data(contentsOf: url(name)) }

  private func run(_ words: String..., status: Int32) throws -> String {
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string] + words, environment: ["PATH=/usr/bin:/bin", "LANG=C"],
      directory: directory.path)
    #expect(run.status == status, "\(words): \(run.errorText)")
    return run.errorText
  }

  @Test func unpackingGivesATraceThatReadsTheSame() throws {
    #expect(try run("pack", "app.mtrace", status: 0).hasPrefix("memtrace: packed app.mtrace ("))
    #expect(
      try run("unpack", "app.mtrace.zst", "-o", "plain.mtrace", status: 0)
        == "memtrace: unpacked into plain.mtrace\n")
    #expect(try Trace(path: directory.path.appending("app.mtrace.zst")).isPacked)
    let plain = try Trace(path: directory.path.appending("plain.mtrace"))
    #expect(!plain.isPacked)
    #expect(try plain.replay().total.liveCount == 50)
    #expect(Set(directory.entries) == ["app.mtrace", "app.mtrace.zst", "plain.mtrace"])
  }

  @Test func packingSaysWhatTheTraceLacks() throws {
    let whole = try bytes("app.mtrace")
    let count = whole.count - 128
    try whole.prefix(count).write(to: url("cut.mtrace"))
    let text = try run("pack", "-q", "cut.mtrace", status: 0)
    #expect(
      text == "memtrace: cut.mtrace was cut: 128 bytes are missing at its end, also once packed\n")
    #expect(try run("pack", "-q", "app.mtrace", status: 0).isEmpty)
  }

  @Test func aRecordingCountsOnceAmongItsCopies() throws {
    _ = try run("pack", "-q", "app.mtrace", status: 0)
    try FileManager.default.copyItem(at: url("app.mtrace"), to: url("copy"))
    let check = try memtrace(
      "check", "--no-default-rules", "--rule", "unfreed<=50", "app.mtrace", "app.mtrace.zst",
      "copy",
      in: directory.path)
    #expect(check.status == 0, "\(check.errorText)")
    let warnings = check.outputText.split(separator: "\n").filter { $0.hasPrefix("Warning: ") }
    #expect(
      warnings == [
        "Warning: app.mtrace.zst is the same recording as app.mtrace, which counts once",
        "Warning: copy is the same recording as app.mtrace, which counts once",
      ])
    #expect(check.outputText.contains(" processes=1 "))
    let folder = try memtrace(
      "check", "--no-default-rules", "--rule", "unfreed<=50", ".", in: directory.path)
    #expect(folder.status == 0, "\(folder.errorText)")
    #expect(folder.outputText.contains(" processes=1 "))
    try FileManager.default.createDirectory(at: url("none"), withIntermediateDirectories: false)
    let none = try memtrace("check", "none", in: directory.path)
    #expect((none.status, none.errorText) == (66, "memtrace: there is no trace in none\n"))
  }

  /// A copy that was not finished comes first by its name.
  @Test func copiesThatLackSomethingDoNotStandForTheWholeOne() throws {
    let whole = try bytes("app.mtrace")
    try whole.prefix(whole.count - 128).write(to: url("a.mtrace"))
    let check = try memtrace(
      "check", "--no-default-rules", "--rule", "unfreed<=50", ".", in: directory.path)
    #expect(check.status == 0, "\(check.errorText)")
    #expect(
      check.outputText.contains(
        "Warning: ./a.mtrace is the same recording as ./app.mtrace, which counts once\n"))
    let report = try memtrace("report", ".", in: directory.path)
    #expect(report.status == 0, "\(report.errorText)")
    #expect(
      report.outputText.contains(
        "Not listed: ./a.mtrace is the same recording as ./app.mtrace\n"))
  }

  @Test func namesThatAreLeftOutAreNotLookedFor() throws {
    let message = try run("pack", "--no-symbols", "--debug-dir", ".", "app.mtrace", status: 64)
    #expect(
      message.hasPrefix("Error: --debug-dir is for the names, which --no-symbols leaves out.\n"))
    #expect(directory.entries == ["app.mtrace"])
  }

  @Test func aPackedTraceOfAnotherNameNeedsAnOutput() throws {
    #expect(
      try run("unpack", "app.mtrace", status: 64) == """
        Error: 'app.mtrace' does not end in .zst: give the output with -o.
        Usage: memtrace unpack TRACE … [-o FILE]
          See 'memtrace unpack --help' for more information.

        """)
  }

  @Test func forceReplacesAnOlderTraceByTheWholeNewOne() throws {
    _ = try run("pack", "-q", "app.mtrace", status: 0)
    let packed = try bytes("app.mtrace.zst")
    try bytes("app.mtrace").write(to: url("app.mtrace.zst"))
    #expect(
      try run("pack", "app.mtrace", status: 73)
        == "memtrace: app.mtrace.zst exists; choose another name, or replace it with --force\n")
    _ = try run("pack", "-q", "--force", "app.mtrace", status: 0)
    #expect(try bytes("app.mtrace.zst") == packed)
    #expect(directory.entries.count == 2)
  }

  /// Whoever is killed in the middle leaves nothing behind.
  @Test func anUnfinishedFileHasNoName() throws {
    let target = TraceTarget(path: directory.path.appending("whole"), name: "whole")
    let source = directory.path.appending("app.mtrace")
    let between = try TraceWriting.create(target, from: source) { _ in directory.entries }
    #expect(between == ["app.mtrace"])
    #expect(Set(directory.entries) == ["app.mtrace", "whole"])
  }

  @Test func aFileSizeLimitIsSaid() throws {
    let run = try ProcessRun.run(
      ["/bin/sh", "-c", "ulimit -f 1; exec \"$0\" pack app.mtrace", BuiltProducts.memtrace.string],
      directory: directory.path)
    #expect(run.status == 74)
    #expect(run.errorText.contains("File too large"))
    #expect(directory.entries == ["app.mtrace"])
  }

  @Test(arguments: ["pack", "unpack"])
  func aMissingSourceCostsNothing(command: String) throws {
    try FileManager.default.moveItem(at: url("app.mtrace"), to: url("only"))
    let kept = try bytes("only")
    let message = try run(command, "--force", "-o", "only", "app.mtrace", status: 66)
    #expect(message.contains("app.mtrace"))
    #expect(try bytes("only") == kept)
    #expect(directory.entries == ["only"])
  }

  @Test func aSourceThatIsPackedAlreadyCostsNothing() throws {
    _ = try run("pack", "-q", "app.mtrace", status: 0)
    let kept = try bytes("app.mtrace")
    let message = try run("pack", "--force", "-o", "app.mtrace", "app.mtrace.zst", status: 64)
    #expect(message == "memtrace: app.mtrace.zst is packed already\n")
    #expect(try bytes("app.mtrace") == kept)
  }

  @Test(arguments: ["app.mtrace", "./app.mtrace", "hard", "soft"])
  func aTraceIsNeverReplacedByWhatIsMadeOfIt(target: String) throws {
    let manager = FileManager.default
    try manager.linkItem(at: url("app.mtrace"), to: url("hard"))
    try manager.createSymbolicLink(at: url("soft"), withDestinationURL: url("app.mtrace"))
    let kept = try bytes("app.mtrace")
    #expect(
      try run("pack", "--force", "-o", target, "app.mtrace", status: 73)
        == "memtrace: \(target) is the trace that is read; choose another name\n")
    _ = try run("pack", "-q", "app.mtrace", status: 0)
    let packed = try bytes("app.mtrace.zst")
    #expect(
      try run("unpack", "--force", "-o", "app.mtrace.zst", "app.mtrace.zst", status: 73)
        == "memtrace: app.mtrace.zst is the trace that is read; choose another name\n")
    #expect(try bytes("app.mtrace") == kept)
    #expect(try bytes("app.mtrace.zst") == packed)
    #expect(directory.entries.count == 4)
  }

  @Test func aTraceThatIsDamagedCostsNothing() throws {
    try Data(bytes("app.mtrace").prefix(100)).write(to: url("cut.mtrace"))
    let kept = try bytes("app.mtrace")
    _ = try run("pack", "--force", "-o", "app.mtrace", "cut.mtrace", status: 65)
    #expect(try bytes("app.mtrace") == kept)
  }

  @Test func recordingReplacesATraceOnlyWhenItCanRecord() throws {
    let kept = try bytes("app.mtrace")
    let run = try memtrace(
      "record", "--force", "-o", "app.mtrace", "--", "true", in: directory.path,
      environment: ["MEMTRACE_LIBRARY=/none.so"])
    #expect(run.status == 125)
    #expect(try bytes("app.mtrace") == kept)
  }
}
