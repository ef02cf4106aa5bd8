import ArgumentParser
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// `memtrace record`: runs a command and writes a trace of it and of each child process.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a command and its child processes.",
    usage: "memtrace record [-o FILE] [-q] [options] -- COMMAND …",
    discussion: """
      Runs the command with its own input, output and signals, and ends with its exit status: 127 \
      when it was not found, 126 when it is not executable, 128 + n when signal n killed it. When \
      it cannot be recorded (static and setuid programs, another C library, another architecture), \
      it is not run, the reason is said, and the status is 125.

      One trace is written per process: the command's own to FILE, those of its children beside \
      it. Nothing is overwritten. When a process ends by itself, a heap snapshot is added, which \
      tells leaks from blocks that are merely not freed (not to a sample).

      Examples:
        memtrace record -- ./server --once
        memtrace record -o run.mtrace --sample 512KiB -- ./server
        memtrace record --refcounts=Node,'Cache*' -- ./app
        memtrace record --runs 5 -o base -- ./bench
      """)

  @OptionGroup(title: "Trace") var trace: RecordedTraceOptions
  @OptionGroup var recording: RecordingOptions
  @OptionGroup(title: "Heap snapshots") var snapshots: SnapshotOptions

  @Argument(
    parsing: .captureForPassthrough,
    help: ArgumentHelp("The command to record, and its arguments.", valueName: "command"),
    completion: .file())
  var command: [String] = []

  mutating func validate() throws {
    if command.first == "--" {
      command.removeFirst()
    } else if let word = command.first, word.hasPrefix("-") {
      if word == "-h" || word == "--help" { throw CleanExit.helpRequest(self) }
      throw ValidationError("Unknown option '\(word)'.")
    }
    if command.isEmpty { throw ValidationError("Missing the command to record, after '--'.") }
  }

  func run() throws {
    guard trace.runs > 1, let output = trace.output else {
      throw ExitCode(try record(into: outputPath))
    }
    let folder = FilePath(argument: output).absolute
    try OutputNaming.checkHasNoTraces(folder, shownAs: output)
    _ = folder.withPlatformString { mkdir($0, 0o777) }
    for _ in 0..<trace.runs {
      let status = try record {
        try OutputNaming.defaultOutput(forCommand: command[0], in: folder)
      }
      if status != 0 { throw ExitCode(status) }
    }
  }

  /// Runs the command once.
  ///
  /// - Parameter path: Chooses the file, when the command is known to be one that can be recorded.
  /// - Returns: The command's exit status.
  /// - Throws: ``CommandFailure`` when it cannot be recorded.
  private func record(into path: () throws -> FilePath) throws -> Int32 {
    let session = try RecordingSession(
      words: command, options: recording, snapshots: snapshots.variables)
    let output = try path()
    if !trace.quiet { session.warnings.forEach(Diagnostics.write) }
    var run = try session.run(output: output, isTemplate: trace.output != nil && trace.runs == 1)
    if run.traces.isEmpty {
      Diagnostics.write(RecordingSummary.nothingRecorded(run).description)
      return run.exitStatus == 0 ? ExitStatus.cannotRecord : run.exitStatus
    }
    if trace.pack { run.pack(relativeTo: .workingDirectory) }
    if !trace.quiet {
      let summary = RecordingSummary(run: run, workingDirectory: .workingDirectory)
      summary.lines.forEach(Diagnostics.write)
    }
    return run.exitStatus
  }

  private func outputPath() throws -> FilePath {
    if var output = trace.output {
      var packed: FilePath?
      let suffix = "." + OutputNaming.packedExtension
      if trace.pack {
        if output.hasSuffix(suffix) { output.removeLast(suffix.count) }
        packed = try OutputNaming.explicitOutput(output + suffix, force: trace.force)
      }
      let path = try OutputNaming.explicitOutput(output, force: trace.force)
      // Both may be replaced, so one does not go without the other.
      if let packed { try OutputNaming.removeReplaced(packed) }
      try OutputNaming.removeReplaced(path)
      return path
    }
    return try OutputNaming.defaultOutput(forCommand: command[0], in: .workingDirectory)
  }
}
