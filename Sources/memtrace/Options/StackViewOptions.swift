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

  /// Refuses `--frames` where it is without effect.
  ///
  /// - Throws: `ValidationError` for a form that has whole stacks.
  func check(for output: OutputOptions) throws {
    guard frames != nil else { return }
    try output.checkIsText(for: "--frames", otherFormsHave: "whole stacks")
  }
}
