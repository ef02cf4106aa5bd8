import ArgumentParser
import Reports
import Symbolication
import SystemPackage
import TraceReader

/// `memtrace pack`: small traces that need nothing else.
struct PackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Compress traces, with the names of their functions.",
    usage: "memtrace pack TRACE … [-o FILE] [--level N] [--no-symbols]",
    discussion: """
      A packed trace takes about a third of the space and holds the names, files and lines of all \
      frames: reports read it as it is and print the same on a machine that has neither the \
      program nor its libraries. The trace itself stays; without -o, TRACE.zst is written beside \
      it.

      Examples:
        memtrace pack server.mtrace
        memtrace pack server.mtrace -o server-1.2.mtrace.zst --level 15
        memtrace report server.mtrace.zst
      """)

  @Argument(
    help: ArgumentHelp("The traces to pack.", valueName: "trace"),
    completion: .file(extensions: ["mtrace"]))
  var traces: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to this file; for one trace. (default: TRACE.zst)", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "Replace a packed trace that is there.")
  var force = false

  @OptionGroup var packing: PackingOptions

  @Flag(name: .shortAndLong, help: "Print no summary.")
  var quiet = false

  mutating func validate() throws {
    if output != nil && traces.count > 1 { throw ValidationError("-o FILE goes with one trace.") }
  }

  func run() throws {
    for name in traces {
      let target = output ?? OutputNaming.packed(FilePath(argument: name)).string
      let file = TraceTarget(
        path: try OutputNaming.explicitOutput(target, force: force), name: target, force: force)
      let summary = try packing.session.pack(FilePath(argument: name), shownAs: name, to: file)
      if let lack = PackSession.lack(summary, name: name) { Diagnostics.write(lack) }
      if !quiet { Diagnostics.write(PackSession.text(summary, name: name, target: target)) }
    }
  }
}
