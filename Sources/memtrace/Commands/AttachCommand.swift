import ArgumentParser
import Reports
import SystemPackage

/// `memtrace attach`: records a process that is running already.
struct AttachCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach",
    abstract: "Record a process that is running already.",
    usage: "memtrace attach PID [--for TIME] [-o FILE] [options]",
    discussion: """
      Brings the recorder into the process and records its allocations from now on, until ^C or for \
      the time given. Then a heap snapshot is taken, which tells what is leaked of them, and the \
      process goes on; attached again, it goes on being recorded into the same trace. What it had \
      allocated before is not known.

      One thread is stopped for some milliseconds, at a moment when it is neither in the allocator \
      nor in the loader. It takes the right to trace the process: that of its user where \
      /proc/sys/kernel/yama/ptrace_scope is 0, else root's. Programs with an allocator of their own \
      in the executable, static ones and those that seccomp might end for it are left alone; filters \
      of seccomp, as those of containers, only root may look at, outside of them.

      Examples:
        memtrace attach $(pidof server) --for 30s
        sudo memtrace attach 4711 -o /tmp/server.mtrace
        memtrace leaks server.mtrace
      """)

  // Threads of the kernel have no command lines.
  @Argument(
    help: ArgumentHelp("The process ID.", valueName: "pid"),
    completion: .shellCommand("sh -c \"grep -lsz . /proc/[1-9]*/cmdline | cut -d/ -f3\""))
  var pid: Int32

  @OptionGroup var length: RecordingLengthOptions

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write the trace to this file. (default: NAME.mtrace in the working directory)",
      valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "Replace FILE if it is a trace.")
  var force = false

  @OptionGroup var recording: AttachingOptions

  @Flag(
    name: .customLong("no-snapshot"),
    help: "Take no heap snapshot at the end, nor handle the real-time signal that asks for one.")
  var skipsSnapshot = false

  mutating func validate() throws {
    guard pid > 0 else { throw ValidationError("PID is a number above 0, not \(pid).") }
    if force && output == nil { throw ValidationError("--force goes with -o FILE.") }
  }

  func run() throws {
    let process = try AttachableProcess(pid: pid)
    let recording: RunningRecording
    if let existing = try process.recording {
      guard output == nil else {
        throw CommandFailure(
          "process \(pid) is being recorded already, in \(existing.path); leave -o out",
          exitStatus: ExitStatus.usage)
      }
      recording = existing
    } else {
      try process.checkState()
      recording = try process.attach(
        output: outputPath(for: process), options: self.recording, takesSnapshots: takesSnapshot)
    }
    // Asked for while it is there.
    let root = process.seesOurs ? nil : process.place(of: "/")
    try record(recording, in: root)
  }

  /// Samples get none, as those of `record`.
  private var takesSnapshot: Bool { !skipsSnapshot && recording.sampleInterval == nil }

  /// Records for the time asked for.
  ///
  /// - Parameters:
  ///   - recording: Of the process.
  ///   - root: Where its file system is found; nil where that is ours.
  /// - Throws: ``CommandFailure`` when it cannot be recorded any longer.
  private func record(_ recording: RunningRecording, in root: FilePath?) throws {
    try recording.record(for: length.duration) {
      if takesSnapshot { takeSnapshot(of: recording) }
    }
    try? Diagnostics.finishOutput()
    let shown = recording.path.shown(relativeTo: .workingDirectory)
    let names = root.map { " --sysroot \($0)" } ?? ""
    Diagnostics.write("next: memtrace report \(ShellText.quoted(shown))\(names)")
  }

  /// What was recorded is worth reading without one, too.
  private func takeSnapshot(of recording: RunningRecording) {
    do {
      let number = try recording.takeSnapshot(timeout: .seconds(60))
      print(try SnapshotLine(number, of: recording).text)
    } catch {
      Diagnostics.write("no heap snapshot: \(error)")
    }
  }

  /// Where the process is to create the trace.
  private func outputPath(for process: AttachableProcess) throws -> FilePath {
    guard let output else {
      guard process.sees(.workingDirectory) else {
        try process.checkIsThere()
        throw CommandFailure(
          "process \(pid) has another working directory of this name, or none (in a container?): "
            + "name a file with -o, by its path there", exitStatus: ExitStatus.usage)
      }
      return try OutputNaming.defaultOutput(forCommand: process.name, in: .workingDirectory)
    }
    let path = FilePath(argument: output).absolute
    guard !process.sees(path.removingLastComponent()) else {
      let path = try OutputNaming.explicitOutput(output, force: force)
      try OutputNaming.removeReplaced(path)
      return path
    }
    try process.checkIsThere()
    let place = try OutputNaming.explicitOutput(process.place(of: path).string, force: force)
    try OutputNaming.removeReplaced(place)
    return path
  }
}
