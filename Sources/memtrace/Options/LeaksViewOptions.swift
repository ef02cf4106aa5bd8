import ArgumentParser
import Reports
import TraceReader

/// How the leaks are looked at.
struct LeaksViewOptions: ParsableArguments {
  @OptionGroup var stacks: StackViewOptions

  @Option(
    help: ArgumentHelp(
      "What a row stands for: stack, type, function, image, thread or block.", valueName: "what"))
  var groupBy = LeaksGrouping.stack

  @Flag(help: "Show root cycles only: blocks that hold each other.")
  var cycles = false

  @Flag(help: "Count blocks, too, that system libraries and the recorder never free.")
  var all = false

  @Option(
    help: ArgumentHelp(
      "Show who holds the block at this address, up to the roots.", valueName: "address"),
    transform: ArgumentForm.address)
  var traceTree: Address?

  @Flag(help: "Show what the roots hold, from the roots down.")
  var referenceTree = false

  @Option(
    help: ArgumentHelp("Show only leaks that this trace does not have.", valueName: "trace"),
    completion: .file(extensions: ["mtrace", "zst"]))
  var diffFrom: String?

  @Flag(help: "End with exit status \(ExitStatus.findings) when there are leaks.")
  var failOnLeaks = false

  /// The option that asks for a tree instead of the list of leaks, if there is one.
  var treeOption: String? {
    if traceTree != nil { return "--trace-tree" }
    return referenceTree ? "--reference-tree" : nil
  }

  mutating func validate() throws {
    if traceTree != nil, referenceTree {
      throw ValidationError("Give --trace-tree or --reference-tree, not both.")
    }
    if diffFrom != nil, groupBy == .block {
      throw ValidationError("Blocks of two traces have nothing in common: not --group-by block.")
    }
  }
}

/// Which snapshot, and which of its blocks.
struct LeaksTimeOptions: ParsableArguments {
  @OptionGroup var snapshot: SnapshotChoiceOptions

  @Option(
    help: ArgumentHelp(
      "Only blocks allocated from this time on: \(TimePoint.forms).", valueName: "time|mark"),
    transform: ArgumentForm.time)
  var from: TimePoint?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only blocks of these requested sizes: \(ByteRange.forms).", valueName: "range"),
    transform: ArgumentForm.sizes)
  var size: ByteRange?

  /// Which of the snapshot's blocks, in words; empty for all of them.
  var scope: [String] {
    [from.map { "allocated from \($0.words) on" }, size.map(\.words)].compactMap(\.self)
  }
}
