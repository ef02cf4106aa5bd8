import Foundation
import Reports
import Symbolication
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// The module `Memtrace`, as another package uses it.
@Suite(.serialized) struct OverlayTests {
  private static let manifest = """
    // swift-tools-version: 6.0
    import PackageDescription
    let package = Package(
      name: "app",
      dependencies: [.package(name: "memtrace", path: "ROOT")],
      targets: [
        .executableTarget(
          name: "app", dependencies: [.product(name: "Memtrace", package: "memtrace")],
          path: ".", sources: ["main.swift"])
      ])
    """

  /// Builds a package with one program in it.
  private static func build(in directory: ScratchDirectory) throws -> FilePath {
    let programs = TestProgram.sources
    let root = programs.removingLastComponent().removingLastComponent().removingLastComponent()
    try write(
      manifest.replacing("ROOT", with: root.string), to: directory.path.appending("Package.swift"))
    try write(
      String(contentsOfFile: programs.appending("overlay.swift").string, encoding: .utf8),
      to: directory.path.appending("main.swift"))
    let run = try ProcessRun.run(
      ["/usr/bin/env", "swift", "build", "--package-path", directory.path.string], timeout: 600)
    try #require(run.status == 0, "\(run.outputText)\(run.errorText)")
    return directory.path.appending(".build/debug/app")
  }

  private static func write(_ text: String, to path: FilePath) throws {
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    defer { try? file.close() }
    try file.writeAll(text.utf8)
  }

  @Test func marksAndSnapshotsComeFromSwift() throws {
    let directory = try ScratchDirectory()
    let app = try Self.build(in: directory)
    // Not recorded: nothing happens.
    let plain = try ProcessRun.run([app.string])
    #expect(plain.outputText == "false\nnotRecorded\n")

    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "-q", "-o", "root.mtrace", "--", app.string],
      directory: directory.path)
    #expect(run.outputText == "true\ntaken\n")
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    #expect(trace.marks.prefix(3).map(\.name) == ["round 0", "round 1", "round 2"])
    #expect(trace.marks.last?.name.utf8.count == 1023)
    #expect(trace.snapshots.map(\.reason) == [.program("done"), .exit(0)])

    let announced = try trace.replay().sites.filter { $0.operation == .announced }
    #expect(announced.reduce(0) { $0 + $1.tally.totalBytes } == 128)
    #expect(announced.reduce(0) { $0 + $1.tally.liveBytes } == 80)
    #expect(trace.ignoredBlocks.count == 1)

    let source = ReportSource(trace, file: nil, symbolicator: ELFSymbolicator())
    var query = GenerationsQuery()
    query.filter.category = "app.Node"
    let generations = try Generations(
      trace, marks: GenerationMarks(), request: ReplayRequest())
    let report = try GenerationsReport(source, generations, query: query)
    #expect(report.generations.map(\.growth.count) == [0, 10, 10, 10, 0])

    let paused = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "-q", "--paused", "-o", "paused.mtrace", "--"]
        + [app.string, "paused"], directory: directory.path)
    #expect(paused.outputText == "true\ntaken\n")
    let parts = try Trace(path: directory.path.appending("paused.mtrace"))
    #expect(parts.windows?.count == 1)
    #expect(try MarkedEvents(parts)[24] == .init(allocated: 7))
  }
}
