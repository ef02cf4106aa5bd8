import SystemPackage
import Testing
import TraceTestSupport

/// `marked.c`, which runs commands between its allocations: 10 blocks, a command, 20 blocks, a
/// command, 30 blocks.
enum MarkedProgram {
  /// The program, compiled.
  static func program() throws -> TestProgram {
    try TestProgram("marked.c", flags: TestProgram.withMarks)
  }

  /// Records the program into `root.mtrace`.
  ///
  /// - Parameters:
  ///   - which: What else the program does.
  ///   - first: The first command; `$M` is memtrace, `$P` the ID of the program's process.
  ///   - second: The second one.
  ///   - options: Options of `record`.
  /// - Returns: How the recording went, and where.
  /// - Throws: ``CompilationFailure``, and errors of starting it.
  static func record(
    _ which: String, _ first: String, _ second: String, options: [String] = []
  ) throws -> (run: ProcessRun, directory: ScratchDirectory) {
    let directory = try ScratchDirectory()
    let commands = [first, second].map {
      "unset LD_PRELOAD; M='\(BuiltProducts.memtrace)'; P=$MARKED_PID; \($0)"
    }
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "-q", "--no-follow", "-o", "root.mtrace"] + options
        + ["--", try program().path.string, which] + commands,
      environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 120)
    #expect(!run.timedOut)
    return (run, directory)
  }
}
