import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// A test program that does what is undefined, recorded with options that look for it: only this run
/// of it is looked at, never one without them.
struct HeapRun {
  let result: ProcessRun
  let directory: ScratchDirectory
  let program: TestProgram

  /// Records it into `root.mtrace`.
  init(_ program: TestProgram, _ arguments: [String], options: [String]) throws {
    self.program = program
    directory = try ScratchDirectory()
    result = try Self.memtrace(
      ["record", "-q", "-o", "root.mtrace"] + options + ["--", program.path.string] + arguments,
      in: directory)
  }

  /// The traces of all processes.
  func traces() throws -> [Trace] {
    try directory.entries.filter { $0.hasSuffix(".mtrace") }.sorted()
      .map { try Trace(path: directory.path.appending($0)) }
  }

  /// The trace of the program's own process.
  func root() throws -> Trace { try Trace(path: directory.path.appending("root.mtrace")) }

  /// What a report prints, line by line, without indentation.
  func lines(of arguments: [String]) throws -> [String] {
    try Self.memtrace(arguments, in: directory).outputText.split(separator: "\n").map {
      String($0.trimmingPrefix(while: \.isWhitespace))
    }
  }

  /// The one error of the program's own process, with the innermost functions of its stacks.
  func error() throws -> (error: MemoryError, allocated: String?, freed: String?, user: String?) {
    let trace = try root()
    let errors = try Self.errors(trace)
    #expect(errors.count == 1)
    let error = try #require(errors.first)
    let names = FrameNames(trace)
    return (
      error, error.block.map { names.names(of: $0.allocation.stack).first ?? "" },
      error.firstFree.map { names.names(of: $0.stack).first ?? "" },
      names.names(of: error.offending.stack).first
    )
  }

  /// All errors of a process.
  static func errors(_ trace: Trace) throws -> [MemoryError] {
    var result = try trace.replay()
    trace.addNoticedErrors(to: &result)
    #expect(result.errorCounts.values.reduce(0, +) == result.errors.reduce(0) { $0 + $1.count })
    return result.errors
  }

  /// Runs the tool.
  static func memtrace(
    _ arguments: [String], in directory: ScratchDirectory
  ) throws -> ProcessRun {
    try ProcessRun.run(
      [BuiltProducts.memtrace.string] + arguments, environment: TracedRun.minimalEnvironment,
      directory: directory.path, timeout: 60)
  }

  /// Expects that a recording with these options is refused, in these words.
  static func expectRefusal(_ options: [String], _ message: String) throws {
    let run = try memtrace(["record"] + options + ["--", "true"], in: try ScratchDirectory())
    #expect(run.status == 64)
    #expect(run.errorText.contains(message))
  }
}
