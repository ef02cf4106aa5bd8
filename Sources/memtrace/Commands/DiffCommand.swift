import ArgumentParser
import LeakGate
import Reports
import Symbolication

extension ComparisonGrouping: ExpressibleByArgument {}
extension ComparedBlocks: ExpressibleByArgument {}

/// `memtrace diff`: what changed between two recordings.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show what changed between two recordings: what grew, shrank, is new or gone.",
    usage: "memtrace diff BASE HEAD [options]",
    discussion: """
      A side is a trace, or a folder with the traces of several runs ('memtrace record --runs 5 -o \
      FOLDER' makes one): these are compared by their medians, and what lies within their spread is \
      marked. Names stand without what changes from build to build: numbers of closures, generic \
      arguments, offsets, versions of libraries. Which leaks are new is told by 'memtrace leaks HEAD \
      --diff-from BASE'.

      Exit status: \(GateStatus.failed) when a limit of --fail-on is exceeded.

      Examples:
        memtrace diff base.mtrace head.mtrace
        memtrace diff base.mtrace head.mtrace --group-by stack --blocks peak
        memtrace diff base.mtrace head.mtrace --blocks mapped --group-by function
        memtrace diff base/ head/ --fail-on 'peak>+5%' --fail-on 'allocations>+1000'
      """)

  @Argument(
    help: ArgumentHelp("The trace, or a folder of traces, before.", valueName: "base"),
    completion: .file(extensions: ["mtrace", "zst"]))
  var base: String

  @Argument(
    help: ArgumentHelp("The trace, or a folder of traces, after.", valueName: "head"),
    completion: .file(extensions: ["mtrace", "zst"]))
  var head: String

  @Option(
    help: ArgumentHelp("What a row is: category, function or stack.", valueName: "what"))
  var groupBy = ComparisonGrouping.category

  @Option(
    help: ArgumentHelp(
      "Which blocks count: unfreed, total or peak; or mapped, memory that was recorded by --mappings.",
      valueName: "which"))
  var blocks = ComparedBlocks.total

  @Option(
    name: .customLong("fail-on"),
    help: ArgumentHelp(
      "Fail when the head has more, may be repeated: 'peak>+5%', 'allocations>+1000', "
        + "'unfreed>10KiB'.", valueName: "limit"),
    transform: Self.limit)
  var limits: [GateRule] = []

  @OptionGroup var top: TopOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Names") var symbols: SymbolOptions

  mutating func validate() throws {
    if blocks == .peak, limits.contains(where: { $0.measure == .unfreed }) {
      throw ValidationError("With --blocks peak nothing is known of what is unfreed at the end.")
    }
  }

  /// Whether something is asked about mapped memory: what was not recorded must not look like none.
  private var needsMappings: Bool {
    blocks == .mapped || limits.contains { Measure.ofMappings.contains($0.measure) }
  }

  func run() throws {
    try ReportOutput.checkCanBeWritten(output.output)
    let files = SymbolFiles()
    let sides = try [base, head].map { side in
      try ComparisonSide(side).profiles(
        groupBy, blocks, symbols: symbols, sharing: files, needsMappings: needsMappings)
    }
    let report = ComparisonReport(
      base: sides[0], head: sides[1], names: (base, head), grouping: groupBy, blocks: blocks,
      top: output.limit(top.top, text: 20, data: 1000), limits: limits)
    let text = try ReportWriter(format: output.format, style: output.style).output(of: report)
    try ReportOutput.withOutput(output.output) { output in _ = try output.write(text) }
    if !report.failures.isEmpty { throw ExitCode(GateStatus.failed) }
  }

  @Sendable private static func limit(_ text: String) throws -> GateRule {
    guard text.contains(">"), !text.contains("<") else {
      throw ValidationError("'\(text)' is no limit; it looks like 'peak>+5%'.")
    }
    do {
      let rule = try GateRule(text, sign: ">")
      guard ![.leaks, .cycles].contains(rule.measure) else {
        throw GateError(
          "'\(text)': diff knows peak, allocations, unfreed, memory-errors, mapped and mapped-peak; "
            + "new leaks are found by 'memtrace leaks HEAD --diff-from BASE --fail-on-leaks'")
      }
      guard rule.scope.isEmpty else {
        throw GateError("'\(text)': diff compares whole processes; leave the […] out")
      }
      return rule
    } catch let error as GateError {
      throw ValidationError("\(error).")
    }
  }
}
