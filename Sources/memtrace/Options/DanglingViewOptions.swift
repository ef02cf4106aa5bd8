import ArgumentParser
import Reports

/// Which pointers into freed blocks are shown.
struct DanglingViewOptions: ParsableArguments {
  @OptionGroup var snapshot: SnapshotChoiceOptions

  @Flag(help: "Show words, too, that may be left over, and what was freed at the end.")
  var all = false

  @OptionGroup var stacks: StackViewOptions

  /// What the user asks, in the terms of the report.
  func query(for output: OutputOptions) -> DanglingQuery {
    var query = DanglingQuery()
    query.includesDoubtful = all
    query.top = output.limit(stacks.top.top, text: 20, data: 1000)
    query.frames = stacks.frames
    return query
  }
}
