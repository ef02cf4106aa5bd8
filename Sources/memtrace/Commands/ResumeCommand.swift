import ArgumentParser

/// `memtrace resume`: records the allocations of a running process from now on.
struct ResumeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Record the allocations of a running process whose recording is paused.",
    usage: "memtrace resume PID [--for TIME] [--trace FILE]",
    discussion: """
      The process must have been started with 'memtrace record --paused', which costs it next to \
      nothing until then. Nothing is sent to the process, nor is it stopped. From now on every \
      allocation is recorded, until 'memtrace pause'; frees of blocks that were recorded are \
      recorded always, so that what is unfreed in the end is.

      Programs that the process executes begin paused; children that it forks are as it is.

      Examples:
        memtrace record --paused -- ./server &
        memtrace resume $(pidof server) --for 30s
        memtrace report server.mtrace
      """)

  @OptionGroup var process: RunningProcessOptions

  @OptionGroup var length: RecordingLengthOptions

  func run() throws {
    let recording = try process.recording(options: " --paused")
    guard let duration = length.duration else {
      return print(
        try PauseLine(recording).text(isPaused: false, at: recording.setPaused(false)))
    }
    try recording.record(for: duration)
  }
}
