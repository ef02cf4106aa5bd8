import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Options that change what is shown: that each arrives where it is meant to.
@Suite struct ViewOptionTests {
  private let directory: ScratchDirectory

  /// A folder with `app.mtrace`: two threads allocate in a function that calls itself, by way of a library of the
  /// system.
  init() throws {
    var builder = TraceBuilder()
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    let images = [("/opt/app/app", 0x1000 as UInt64), ("/usr/lib/libsystem.so", 0x9000)]
    for (index, (path, start)) in images.enumerated() {
      builder.image(
        Image(
          index: UInt32(index), path: path, loadBias: start, start: Address(start),
          end: Address(start + 0x1000), textStart: Address(start),
          textEnd: Address(start + 0x1000)))
    }
    let stack = builder.stack([0x9011, 0x1021, 0x1021, 0x1011])
    for thread in 1...2 as ClosedRange<UInt32> {
      builder.thread(thread, tid: 4710 + thread, name: thread == 1 ? "app" : "worker")
      for block in 0..<2 as Range<UInt64> {
        builder.allocate(
          0x500_0000 + UInt64(thread) * 0x1000 + block * 64, 40, stack: stack, thread: thread)
      }
    }
    builder.free(0x500_1000, stack: stack)
    builder.mark("early", time: 1)
    directory = try ScratchDirectory()
    let path = directory.path.appending("app.mtrace").string
    try Data(builder.bytes()).write(to: URL(filePath: path))
  }

  private func run(_ command: String, _ options: [String], status: Int32 = 0) throws -> ProcessRun {
    let run = try memtrace(arguments: [command] + options, in: directory.path)
    #expect(run.status == status, "\(options): \(run.errorText)")
    return run
  }

  private static let shapes = [
    ("--invert", "libsystem.so+0x11;app+0x21;app+0x21;app+0x11 4\n"),
    ("--hide-system", "app+0x11;app+0x21;app+0x21 4\n"),
    ("--flatten-recursion", "app+0x11;app+0x21;libsystem.so+0x11 4\n"),
    (
      "--separate-threads",
      """
      app (T1, tid 4711);app+0x11;app+0x21;app+0x21;libsystem.so+0x11 2
      worker (T2, tid 4712);app+0x11;app+0x21;app+0x21;libsystem.so+0x11 2

      """
    ),
  ]

  @Test(arguments: shapes)
  func stacksAreShaped(option: String, stacks: String) throws {
    let plain = try run("export", ["app.mtrace", "--value", "total-blocks"])
    #expect(plain.outputText == "app+0x11;app+0x21;app+0x21;libsystem.so+0x11 4\n")
    let shaped = try run("export", ["app.mtrace", "--value", "total-blocks", option])
    #expect(shaped.outputText == stacks)
  }

  private struct Tree: Decodable {
    struct Node: Decodable {
      var name: String
      var count: Int
    }
    var nodes: [Node]
  }

  /// The nodes of a call tree, from the roots down.
  private func nodes(_ command: [String], _ options: String...) throws -> [String] {
    let words = ["app.mtrace", "--call-tree", "--format", "json"] + command.dropFirst() + options
    let tree = try JSONDecoder().decode(Tree.self, from: Data(run(command[0], words).output))
    return tree.nodes.map { "\($0.name) \($0.count)" }
  }

  @Test(arguments: [
    (["allocations"], [4, 2, 2]), (["generations", "--generation", "early"], [3, 1, 2]),
  ])
  func treesAreShaped(command: [String], counts: [Int]) throws {
    let functions = ["app+0x11", "app+0x21", "app+0x21", "libsystem.so+0x11"]
    let all = functions.map { "\($0) \(counts[0])" }
    #expect(try nodes(command) == all)
    #expect(try nodes(command, "--invert") == all.reversed())
    #expect(try nodes(command, "--hide-system") == Array(all.dropLast()))
    #expect(try nodes(command, "--flatten-recursion") == [all[0], all[1], all[3]])
    let threads = zip(["app (T1, tid 4711)", "worker (T2, tid 4712)"], counts.dropFirst())
      .sorted { $0.1 > $1.1 }
      .flatMap { thread, count in ([thread] + functions).map { "\($0) \(count)" } }
    #expect(try nodes(command, "--separate-threads") == threads)
  }

  @Test func generationsListStacks() throws {
    let words = ["app.mtrace", "--generation", "early", "--stacks", "--frames", "1"]
    #expect(
      try run("generations", words).outputText == """
        Unfreed at the end: 120 B in 3 blocks from 1 stack of ./app (pid 4711)
        Only: generation "early"

        120 B in 3 blocks of 40 B by malloc on 2 threads
            … 1 more frame
            app+0x21
            … 2 more frames

        """)
  }

  @Test func classesAreChosen() throws {
    let chosen = try run("heap", ["app.mtrace", "--class", "malloc in *"]).outputText
    #expect(chosen.contains("\n    3    120  40.0  malloc in app+0x21  C     app\n"))
    let none = try run("heap", ["app.mtrace", "--class", "Node"], status: 64)
    #expect(
      none.errorText
        == "memtrace: no class \"Node\" in this trace; there is malloc in app+0x21\n")
  }

  @Test func theStacksOfALifeAreShown() throws {
    let plain = try run("history", ["app.mtrace", "0x5001000"]).outputText
    let stacks = try run("history", ["app.mtrace", "0x5001000", "--stacks"]).outputText
    let frames = ["libsystem.so+0x11", "app+0x21", "app+0x21", "app+0x11"]
    let listed = ["malloc", "free"].enumerated().map { number, function in
      (["\n\(number). \(function) on app (T1, tid 4711) at 00:00.000.000"]
        + frames.map { "    \($0)" }).joined(separator: "\n") + "\n"
    }
    #expect(stacks == plain + listed.joined())
  }

  @Test(arguments: [("1", "19"), ("0", "20")])
  func levelsOfPackingAreFrom1To19(low: String, high: String) throws {
    let isLevel = low == "1"
    for level in [low, high] {
      let words = ["app.mtrace", "--level", level, "--quiet", "-o", "packed\(level)"]
      let run = try run("pack", words, status: isLevel ? 0 : 64)
      #expect(
        run.errorText.hasPrefix(isLevel ? "" : "Error: --level takes 1 to 19, not \(level).\n"))
      guard isLevel else { continue }
      #expect(run.errorText.isEmpty)
      let back = try self.run("unpack", ["packed\(level)", "--quiet", "-o", "plain\(level)"])
      #expect(back.errorText.isEmpty)
    }
    #expect(directory.entries.count == (isLevel ? 5 : 1))
  }

  @Test func theConfigurationOfAGateCanLieAnywhere() throws {
    let file = directory.path.appending("rules.yml").string
    try "version: 1\ndefault-rules: false\nrules: ['unfreed<=2']\n"
      .write(toFile: file, atomically: true, encoding: .utf8)
    let words = ["app.mtrace", "--config"]
    let run = try run("check", words + ["rules.yml"], status: 86)
    #expect(run.outputText.contains("\n  unfreed<=2  app (pid 4711)  3 unfreed blocks        2\n"))
    let none = try self.run("check", words + ["none.yml"], status: 66)
    #expect(none.errorText == "memtrace: cannot read none.yml: No such file or directory\n")
  }
}
