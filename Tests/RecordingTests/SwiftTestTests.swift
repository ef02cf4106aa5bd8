import Foundation
import SystemPackage
import Testing
import TraceTestSupport

/// `memtrace check -- swift test`, with the module `MemtraceTesting` as other packages use it.
@Suite(.serialized) struct SwiftTestTests {
  private static let root = TestProgram.sources.removingLastComponent().removingLastComponent()
    .removingLastComponent()

  /// A package and its build, away from the repository.
  private struct Package {
    let directory: ScratchDirectory

    /// Copies and builds a package.
    ///
    /// - Parameters:
    ///   - folder: Where it lies, from the root of the repository.
    ///   - path: What its manifest calls the path of this repository.
    /// - Throws: An issue with the compiler's messages.
    init(_ folder: String, path: String) throws {
      directory = try ScratchDirectory()
      let source = SwiftTestTests.root.appending(folder)
      _ = try ProcessRun.run(["/bin/cp", "-r", source.string + "/.", directory.path.string])
      let manifest = directory.path.appending("Package.swift").string
      let text = try String(contentsOfFile: manifest, encoding: .utf8)
        .replacing("\"\(path)\"", with: "\"\(SwiftTestTests.root)\"")
      try text.write(toFile: manifest, atomically: true, encoding: .utf8)
      let build = try ProcessRun.run(
        [
          "/usr/bin/env", "swift", "build", "--build-tests", "--package-path",
          directory.path.string,
        ],
        timeout: 1200)
      try #require(build.status == 0, "\(build.outputText)\(build.errorText)")
    }

    func swiftTest(_ prefix: [String] = []) throws -> ProcessRun {
      try ProcessRun.run(
        prefix + ["/usr/bin/env", "swift", "test", "--package-path", directory.path.string],
        timeout: 600)
    }

    func check(_ options: [String]) throws -> ProcessRun {
      try swiftTest(
        [BuiltProducts.memtrace.string, "check", "--source-root", directory.path.string] + options
          + ["--"])
    }

    func file(_ name: String) throws -> String {
      try String(contentsOfFile: directory.path.appending(name).string, encoding: .utf8)
    }
  }

  @Test func theGateNamesTheTestTheTypeAndTheLine() throws {
    let package = try Package("Examples/swift-test", path: "../..")
    let plain = try package.swiftTest()
    #expect(plain.status == 0, "\(plain.outputText)\(plain.errorText)")

    let json = package.directory.path.appending("check.json").string
    let github = package.directory.path.appending("check.github").string
    let run = try package.check(
      ["--output", "text", "--output", "json=\(json)", "--output", "github=\(github)"])
    #expect(run.status == 86, "\(run.outputText)\(run.errorText)")
    let cycle =
      "Leaked cycle: Shelf.Book, 2 blocks, 96 B, allocated in Shelf.putSeries(_:_:) "
      + "(Shelf.swift:17), in the test "
    let found = run.outputText.split(separator: "\n").filter {
      $0.hasPrefix("Leaked cycle: ") || $0.hasPrefix("Memory leak: ")
    }
    #expect(
      Set(found) == [
        "\(cycle)ShelfTests.ShelfTests/aSeriesStandsTogether()",
        "\(cycle)ShelfTests.OldShelfTests/testASequelKnowsItsPredecessor",
      ])
    #if compiler(>=6.2)
      #expect(run.outputText.contains("exit test of Swift Testing, leaks not looked for"))
    #endif
    #expect(run.outputText.contains("unmeasured=0"))
    let annotations = try package.file("check.github").split(separator: "\n")
    #expect(annotations.count == 2)
    #expect(
      annotations.allSatisfy {
        $0.hasPrefix("::error file=Sources/Shelf/Shelf.swift,line=17,")
          && $0.contains("in the test ShelfTests.")
      })
    try expectProcesses(in: json)
  }

  /// The test processes were checked, the tools around them listed.
  private func expectProcesses(in file: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: file))
    let document = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    let processes = try #require(document["processes"] as? [[String: Any]])
    let names = { (isChosen: Bool) in
      Set(
        processes.filter { $0["isChosen"] as? Bool == isChosen }
          .compactMap { $0["name"] as? String })
    }
    #expect(names(true).contains("ShelfPackageTests.xctest"))
    #expect(names(false).contains("swift-package"))
    #expect(names(true).isDisjoint(with: ["swift-package", "swift-frontend", "clang-21", "git"]))
  }

  @Test func foundationAndSwiftNIOHaveNoFindings() throws {
    let package = try Package("Tests/RecordingTests/Programs/quiet", path: "MEMTRACE")
    let run = try package.check(["--canary", "--process", "*.xctest"])
    #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
    #expect(run.outputText.contains("findings=0"))
    #expect(run.outputText.contains("processes=2"))
  }
}
