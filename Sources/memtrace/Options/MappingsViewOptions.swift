import ArgumentParser
import Reports

extension MappingsGrouping: ExpressibleByArgument {}

/// How mapped memory is looked at.
struct MappingsViewOptions: ParsableArguments {
  @Option(
    name: .customLong("group-by"),
    help: ArgumentHelp("What the rows stand for.", valueName: "what"))
  var groupBy: MappingsGrouping = .kind

  @Option(
    help: ArgumentHelp(
      "All mappings, those that persist (mapped still), or those that are transient.",
      valueName: "which"))
  var lifespan: Lifespan = .all

  @Option(
    name: .customLong("live-at"),
    help: ArgumentHelp(
      "The state at this time instead of the end; 'peak' is when most was mapped.",
      valueName: "time|mark|peak"),
    transform: { LiveMoment($0) })
  var liveAt: LiveMoment?

  @OptionGroup var stacks: StackViewOptions

  /// Refuses `--frames` where there are no stacks to shorten.
  ///
  /// - Throws: `ValidationError`.
  func check(for output: OutputOptions) throws {
    try stacks.check(for: output)
    guard stacks.frames != nil, groupBy != .stack else { return }
    throw ValidationError("--frames shortens the stacks of --group-by stack; add that.")
  }

  /// What the user asks, in the terms of the report.
  func query(for output: OutputOptions) -> MappingsQuery {
    var query = MappingsQuery()
    query.grouping = groupBy
    query.lifespan = lifespan
    query.liveAt = liveAt
    query.moment = liveAt?.text
    query.top = output.limit(stacks.top.top, text: 20, data: 1000)
    query.frames = stacks.frames
    return query
  }
}
