import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// One command, run twice: as it is, and recorded.
struct TracedRun {
  let plain: ProcessRun
  let recorded: ProcessRun
  /// The traces of the recording in its directory, by name.
  let traces: [FilePath]
  /// Holds the traces until the test is over.
  let directory: ScratchDirectory

  /// How the recorded run is started.
  enum Start {
    /// By `memtrace record` with these options.
    case launcher([String])
    /// With `LD_PRELOAD` alone and these variables.
    case preload([String])
  }

  /// Runs a command plainly and recorded, and compares the two.
  ///
  /// The first element of the command must be a path. The text in `shell` runs before the command
  /// in both runs (`ulimit -f 100`). Variables are for both runs, on top of a minimal environment.
  /// Standard error is not compared where the recorder has something to say.
  init(
    _ command: [String], start: Start = .launcher([]), shell: String? = nil,
    environment: [String] = [], comparesErrors: Bool = true, timeout: Int = 60,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    directory = try ScratchDirectory()
    let variables = Self.minimalEnvironment + environment
    let inShell = shell.map { ["/bin/sh", "-c", "\($0)\nexec \"$@\"", "sh"] } ?? []
    plain = try ProcessRun.run(
      inShell + command, environment: variables, directory: directory.path, timeout: timeout)
    recorded =
      switch start {
      case .launcher(let options):
        // The limits are for the command, not for memtrace.
        try ProcessRun.run(
          [BuiltProducts.memtrace.string, "record", "-q", "-o", "root.mtrace"] + options + ["--"]
            + inShell + command,
          environment: variables, directory: directory.path, timeout: timeout)
      case .preload(let settings):
        try ProcessRun.run(
          inShell + command,
          environment: variables + ["LD_PRELOAD=\(BuiltProducts.library)"] + settings,
          directory: directory.path, timeout: timeout)
      }
    traces = directory.entries.filter { $0.hasSuffix(".mtrace") }
      .map { [directory] in directory.path.appending($0) }
    compare(launched: start.isLauncher, comparesErrors, sourceLocation)
  }

  private func compare(launched: Bool, _ errors: Bool, _ location: SourceLocation) {
    #expect(!plain.timedOut, "the unrecorded run hangs", sourceLocation: location)
    #expect(!recorded.timedOut, "the recorded run hangs", sourceLocation: location)
    #expect(recorded.outputText == plain.outputText, sourceLocation: location)
    if errors { #expect(recorded.errorText == plain.errorText, sourceLocation: location) }
    if launched {
      #expect(recorded.status == plain.exitStatus, sourceLocation: location)
    } else {
      #expect(recorded.status == plain.status, sourceLocation: location)
      #expect(recorded.signal == plain.signal, sourceLocation: location)
    }
  }

  /// The trace of the launched process.
  ///
  /// - Returns: The opened `root.mtrace`.
  /// - Throws: `TraceError` when it cannot be read.
  func root() throws -> Trace {
    try Trace(path: directory.path.appending("root.mtrace"))
  }

  /// The traces of one program, where a shell or a parent has traces of its own.
  ///
  /// - Parameter program: The executable; paths are compared by their last component.
  /// - Returns: Its traces in order of their start; one for each time it ran.
  /// - Throws: `TraceError` when a trace cannot be read.
  func traces(of program: TestProgram) throws -> [Trace] {
    try allTraces().filter {
      FilePath($0.process.executablePath).lastComponent == program.path.lastComponent
    }
  }

  /// All traces, opened, in order of their start.
  func allTraces() throws -> [Trace] {
    try traces.map { try Trace(path: $0) }
      .sorted { $0.header.startMonotonicNanoseconds < $1.header.startMonotonicNanoseconds }
  }

  static let minimalEnvironment = [
    "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C", "TERM=dumb",
  ]
}

extension TracedRun.Start {
  fileprivate var isLauncher: Bool {
    if case .launcher = self { return true }
    return false
  }
}

extension ProcessRun {
  /// The status that a shell would report.
  var exitStatus: Int32 { status ?? 128 + (signal ?? 0) }
}
