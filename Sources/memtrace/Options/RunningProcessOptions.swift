import ArgumentParser
import SystemPackage

/// Which running process is meant.
struct RunningProcessOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The process ID.", valueName: "pid"),
    completion: .shellCommand("sh -c \"grep -ls libmemtrace.so /proc/[1-9]*/maps | cut -d/ -f3\""))
  var pid: Int32

  @Option(
    help: ArgumentHelp(
      "The trace that the process is writing, where memtrace may not look for it: in a process that "
        + "is not dumpable.", valueName: "file"),
    completion: .file(extensions: ["mtrace"]))
  var trace: String?

  mutating func validate() throws {
    guard pid > 0 else { throw ValidationError("PID is a number above 0, not \(pid).") }
  }

  /// The recording of the process.
  ///
  /// - Parameter options: What it should have been recorded with, for messages.
  /// - Returns: The recording.
  /// - Throws: ``CommandFailure`` when there is none.
  func recording(options: String) throws(CommandFailure) -> RunningRecording {
    try RunningRecording(pid: pid, trace: trace.map { FilePath(argument: $0) }, options: options)
  }
}
