import ArgumentParser
import SystemPackage

/// `memtrace record`: runs a command and writes a trace of it and of each child process.
struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a command and its child processes.",
    usage: """
      memtrace record [-o FILE] [--depth FRAMES] [--sample BYTES] [--refcounts[=TYPES]] [--no-follow] \
      [--pack] [-q] \
      -- COMMAND …
      """,
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
      """)

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write the trace to this file. (default: COMMAND.mtrace in the working directory)",
      valueName: "file"))
  var output: String?

  @Flag(help: "Replace FILE if it is a trace.")
  var force = false

  @OptionGroup var recording: RecordingOptions

  @Flag(
    help: "Pack the traces when the command has ended, into FILE.zst, and remove the plain ones.")
  var pack = false
  @OptionGroup(title: "Heap snapshots") var snapshots: SnapshotOptions

  @Flag(name: .shortAndLong, help: "Print no summary at the end.")
  var quiet = false

  @Argument(
    parsing: .captureForPassthrough,
    help: ArgumentHelp("The command to record, and its arguments.", valueName: "command"))
  var command: [String] = []

  mutating func validate() throws {
    if command.first == "--" {
      command.removeFirst()
    } else if let word = command.first, word.hasPrefix("-") {
      if word == "-h" || word == "--help" { throw CleanExit.helpRequest(self) }
      throw ValidationError("Unknown option '\(word)'.")
    }
    if command.isEmpty { throw ValidationError("Missing the command to record, after '--'.") }
    if force && output == nil { throw ValidationError("--force goes with -o FILE.") }
  }

  func run() throws {
    let session = try RecordingSession(
      words: command, options: recording, snapshots: snapshots.variables)
    let output = try outputPath()
    if !quiet { session.warnings.forEach(Diagnostics.write) }
    var run = try session.run(output: output)
    if run.traces.isEmpty {
      Diagnostics.write(RecordingSummary.nothingRecorded(run).description)
      throw ExitCode(run.exitStatus == 0 ? ExitStatus.cannotRecord : run.exitStatus)
    }
    if pack { run.pack(relativeTo: .workingDirectory) }
    if !quiet {
      let summary = RecordingSummary(run: run, workingDirectory: .workingDirectory)
      summary.lines.forEach(Diagnostics.write)
    }
    throw ExitCode(run.exitStatus)
  }

  private func outputPath() throws -> FilePath {
    if var output {
      var packed: FilePath?
      let suffix = "." + OutputNaming.packedExtension
      if pack {
        if output.hasSuffix(suffix) { output.removeLast(suffix.count) }
        packed = try OutputNaming.explicitOutput(output + suffix, force: force)
      }
      let path = try OutputNaming.explicitOutput(output, force: force)
      // Both may be replaced, so one does not go without the other.
      if let packed { try OutputNaming.removeReplaced(packed) }
      try OutputNaming.removeReplaced(path)
      return path
    }
    return try OutputNaming.defaultOutput(forCommand: command[0], in: .workingDirectory)
  }
}
