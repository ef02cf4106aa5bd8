import ArgumentParser

/// How to record, for `record` and for every report command that is given a command.
///
/// The titles are those of `record`; the reports show all of it under one title of their own.
struct RecordingOptions: ParsableArguments {
  @OptionGroup(title: "What is recorded") var events: RecordedEventsOptions
  @OptionGroup(title: "Heap snapshots") var crashSnapshot: CrashSnapshotOptions
  @OptionGroup(title: "Looking for errors") var heapChecks: HeapCheckOptions
  @OptionGroup(title: "Shortage of memory") var shortage: ShortageOptions
  @OptionGroup(title: "Size of the trace") var size: TraceSizeOptions

  mutating func validate() throws {
    try checkHeapChecks()
  }

  private func checkHeapChecks() throws {
    if events.bundledAllocator, let option = (heapChecks.given + shortage.given).first {
      throw ValidationError(
        "\(option) is done to the C library's allocator; leave --bundled-allocator out.")
    }
    guard let option = heapChecks.given.first else { return }
    for selection in events.given where ["--sample", "--paused"].contains(selection) {
      throw ValidationError("\(option) needs all blocks to be recorded; leave \(selection) out.")
    }
  }

  /// Refuses what would be without effect on something that is recorded already.
  ///
  /// - Parameter trace: The trace that was given instead of a command.
  /// - Throws: ``CommandFailure`` when there is any option.
  func checkNone(for trace: String) throws(CommandFailure) {
    let given = [events.given, crashSnapshot.given, heapChecks.given, shortage.given, size.given]
    guard let option = given.joined().first else { return }
    throw CommandFailure(
      "\(option) is for recording a command; \(trace) is recorded already: leave it out, or "
        + "record the command anew with it",
      exitStatus: ExitStatus.usage)
  }
}
