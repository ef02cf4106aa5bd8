import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Runs a command under the recorder.
struct RecordingSession {
  var command: RecordedCommand
  var options: RecordingOptions
  var environment: EnvironmentVariables
  /// The variables that say when heap snapshots are taken.
  var snapshots: [String: String]
  /// The recorder.
  let library: FilePath
  /// What the traces will not hold, known before the command runs.
  let warnings: [String]

  /// Prepares a recording.
  ///
  /// - Throws: ``CommandFailure`` when the command is not found (127), not executable (126), or
  ///   of a kind that cannot be recorded (125), and when the recorder is missing (125).
  init(
    words: [String], options: RecordingOptions, snapshots: [String: String] = [:],
    environment: EnvironmentVariables = .current
  ) throws(CommandFailure) {
    command = try RecordedCommand(words: words, environment: environment)
    self.options = options
    self.snapshots = snapshots
    if options.crashSnapshot.snapshotOnCrash { self.snapshots["MEMTRACE_SNAPSHOT_ON_CRASH"] = "1" }
    self.environment = environment
    library = try PreloadLocator.current(environment: environment).locate()
    let recordability = try Recordability(
      of: command.executable, arguments: words, environment: environment, recorder: library)
    warnings = recordability.warnings(recordingBundledAllocator: options.events.bundledAllocator)
  }

  /// Starts the command, waits for it, and collects the traces.
  ///
  /// - Parameters:
  ///   - output: The absolute path of the trace of the command's own process.
  ///   - isTemplate: Whether `%p` and `%n` in its name stand for the process ID and the program.
  ///   - listsUnrecorded: Whether to look for processes that run on without a trace, among all that
  ///     there are.
  /// - Returns: How the command ended, and the traces.
  /// - Throws: ``CommandFailure`` when the command does not start.
  func run(
    output: FilePath, isTemplate: Bool = false, listsUnrecorded: Bool = false
  ) throws(CommandFailure) -> RecordedRun {
    let recording = RecordingEnvironment(
      library: library, output: output, isTemplate: isTemplate,
      depth: options.events.depth ?? RecordedEventsOptions.standardDepth,
      sampleInterval: options.events.sampleInterval, isPaused: options.events.paused,
      recordsBundledAllocator: options.events.bundledAllocator,
      recordsMappings: options.events.mappings,
      refcounts: options.events.refcounts,
      variables: options.heapChecks.variables + options.shortage.variables + options.size.variables,
      followsChildren: !options.events.noFollow, sessionID: .random(), snapshots: snapshots)
    let child = try ChildProcess.launch(
      executable: command.executable, arguments: command.arguments,
      environment: recording.applied(to: environment))
    let ending = child.wait()
    // Before the traces are collected: one that ends in between has all in its trace.
    let running =
      listsUnrecorded && !options.events.noFollow
      ? SessionProcess.running(in: recording.sessionID) : []
    let traces = collect(recording, pid: child.pid, ending: ending)
    let recorded = Set(traces.map(\.header.pid))
    return RecordedRun(
      commandName: command.name, pid: child.pid, ending: ending, traces: traces,
      unrecorded: running.filter { $0.ids.isDisjoint(with: recorded) },
      folder: output.removingLastComponent())
  }

  private func collect(
    _ recording: RecordingEnvironment, pid: pid_t, ending: ProcessEnding
  ) -> [SessionTrace] {
    let find = { RecordedRun.traces(of: recording.sessionID, root: pid, near: recording.output) }
    let traces = find()
    // After an exec there are several of one process; the last one has no ending yet.
    guard let last = traces.last(where: { $0.header.pid == pid && $0.header.hasNoEnding })
    else { return traces }
    TraceFileHeader.write(ending, ofProcess: pid, to: last.path)
    return find()
  }
}

extension RecordingSession {
  /// Records a command into a temporary directory, for a report about it that needs no file.
  ///
  /// The program's output comes first, then what `body` prints. The directory (in `TMPDIR`, else
  /// `/tmp`) is removed with all it holds when `body` has returned.
  ///
  /// - Parameters:
  ///   - words: The command and its arguments.
  ///   - options: How to record.
  ///   - body: Makes the report; the traces exist as long as it runs.
  /// - Returns: What `body` returns.
  /// - Throws: ``CommandFailure`` when the command cannot be recorded, and what `body` throws.
  static func withTemporaryRecording<Result>(
    of words: [String], options: RecordingOptions, _ body: (RecordedRun) throws -> Result
  ) throws -> Result {
    let session = try RecordingSession(words: words, options: options)
    let directory = try TemporaryDirectory(environment: session.environment)
    defer { directory.remove() }
    let name = try OutputNaming.defaultOutput(forCommand: words[0], in: directory.path)
    session.warnings.forEach(Diagnostics.write)
    let run = try session.run(output: name)
    guard !run.traces.isEmpty else { throw RecordingSummary.nothingRecorded(run) }
    return try body(run)
  }
}
