import ArgumentParser

/// `memtrace pause`: records no more allocations of a running process.
struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Record no more allocations of a running process, until it is resumed.",
    usage: "memtrace pause PID [--trace FILE]",
    discussion: """
      The process must have been started with 'memtrace record --paused', and resumed by 'memtrace \
      resume' or by itself. Frees of blocks that were recorded go on being recorded.

      Example:
        memtrace pause $(pidof server)
      """)

  @OptionGroup var process: RunningProcessOptions

  func run() throws {
    let recording = try process.recording(options: " --paused")
    print(try PauseLine(recording).text(isPaused: true, at: recording.setPaused(true)))
  }
}
