import ArgumentParser

/// How reports that list stacks are looked at.
struct StackViewOptions: ParsableArguments {
  @OptionGroup var top: TopOptions

  @Option(
    help: ArgumentHelp("Show at most so many frames of each stack.", valueName: "frames"))
  var frames: Int?

  mutating func validate() throws {
    if let frames, frames < 1 {
      throw ValidationError("--frames takes 1 or more frames, not \(frames).")
    }
  }
}
