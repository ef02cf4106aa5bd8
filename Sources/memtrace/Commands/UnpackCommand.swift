import ArgumentParser
import SystemPackage
import TraceReader

/// `memtrace unpack`: the plain trace of a packed one.
struct UnpackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpack",
    abstract: "Decompress a packed trace.",
    usage: "memtrace unpack TRACE … [-o FILE]",
    discussion: """
      Writes what `zstd -d` would: a plain trace that keeps the names. Reports do not need it, \
      they read packed traces as they are.

      Examples:
        memtrace unpack server.mtrace.zst
        memtrace unpack server.mtrace.zst -o plain.mtrace
      """)

  @Argument(
    help: ArgumentHelp("The packed traces.", valueName: "trace"),
    completion: .file(extensions: ["zst"]))
  var traces: [String]

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to this file; for one trace. (default: TRACE without .zst)", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "Replace a trace that is there.")
  var force = false

  @Flag(name: .shortAndLong, help: "Print no summary.")
  var quiet = false

  mutating func validate() throws {
    if output != nil && traces.count > 1 { throw ValidationError("-o FILE goes with one trace.") }
    if output == nil { for name in traces { _ = try Self.plainName(of: name) } }
  }

  func run() throws {
    for name in traces {
      let target = try output ?? Self.plainName(of: name)
      let file = TraceTarget(
        path: try OutputNaming.explicitOutput(target, force: force), name: target, force: force)
      let lost = try UnpackSession.unpack(FilePath(argument: name), shownAs: name, to: file)
      if lost > 0 { Diagnostics.write("\(name) is damaged: \(lost) bytes of the trace are lost") }
      if !quiet { Diagnostics.write("unpacked into \(target)") }
    }
  }

  private static func plainName(of name: String) throws -> String {
    let suffix = "." + OutputNaming.packedExtension
    guard name.hasSuffix(suffix), name != suffix else {
      throw ValidationError("'\(name)' does not end in \(suffix): give the output with -o.")
    }
    return String(name.dropLast(suffix.count))
  }
}
