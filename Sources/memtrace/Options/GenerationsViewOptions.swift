import ArgumentParser
import Reports
import TraceReader

/// Which generations are looked at, and how.
struct GenerationsViewOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Part at these marks only: times and names, which may hold * and ?, with commas between. "
        + "(default: all marks of the trace)", valueName: "marks"))
  var marks: [String] = []

  @Option(
    help: ArgumentHelp("Make a mark every so often: 5s, 200ms, 10%.", valueName: "time"),
    transform: ArgumentForm.step)
  var every: TimePoint?

  @Option(
    help: ArgumentHelp(
      "The blocks that live at this moment instead of the end: \(TimePoint.forms); 'peak' is when "
        + "most was live.", valueName: "time|mark|peak"),
    transform: { LiveMoment($0) })
  var at: LiveMoment?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only blocks of these requested sizes: \(ByteRange.forms).", valueName: "range"),
    transform: ArgumentForm.sizes)
  var size: ByteRange?

  @Option(
    help: ArgumentHelp(
      "Show the blocks of this generation: its name, 'baseline', or the letter of one made "
        + "afterwards.", valueName: "name"))
  var generation: String?

  @Flag(help: "With --generation: list single blocks.")
  var blocks = false

  @Flag(help: "With --generation: the stacks that allocated its blocks (as without a view).")
  var stacks = false

  @Flag(
    name: .customLong("call-tree"), help: "With --generation: who called whom to allocate them.")
  var callTree = false

  @OptionGroup var top: TopOptions

  @Option(
    help: ArgumentHelp(
      "Show at most so many generations, those that grew most, 0 for all. (default: 100 in text, "
        + "else all)", valueName: "count"))
  var generations: Int?

  @Option(
    help: ArgumentHelp(
      "With --generation: show at most so many frames of each stack.", valueName: "frames"))
  var frames: Int?

  mutating func validate() throws {
    let views = [("--blocks", blocks), ("--stacks", stacks), ("--call-tree", callTree)]
      .filter(\.1).map(\.0)
    if views.count > 1 {
      throw ValidationError("Give one of \(views.joined(separator: " and ")), not several.")
    }
    if let view = views.first, generation == nil {
      throw ValidationError("\(view) goes with --generation.")
    }
    if frames != nil, generation == nil || blocks || callTree {
      throw ValidationError("--frames goes with the stacks of one --generation.")
    }
    if generations != nil, let generation {
      throw ValidationError("--generations is about all of them, not about '\(generation)' alone.")
    }
    if let generations, generations < 0 {
      throw ValidationError("--generations takes 0 or more, not \(generations).")
    }
    if let frames, frames < 1 {
      throw ValidationError("--frames takes 1 or more frames, not \(frames).")
    }
  }

  /// The marks in the terms of the reports.
  var selection: GenerationMarks {
    var selection = GenerationMarks()
    selection.chosen = marks
    selection.every = every
    return selection
  }

  /// The part of the trace in the terms of the reports.
  var request: ReplayRequest {
    var request = ReplayRequest()
    request.liveAt = at
    request.sizes = size
    return request
  }

  /// What there is to say when the trace ends before what was asked for.
  func endNote(_ trace: Trace) throws -> String? {
    try trace.endNote(
      request, moment: "--at", others: selection.times(in: trace).map { ("--marks", $0) })
  }

  /// Which of the blocks, in words; empty for all of them.
  var scope: [String] { [size.map(\.words)].compactMap(\.self) }
}
