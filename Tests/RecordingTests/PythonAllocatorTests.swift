import Testing
import TraceReader
import TraceTestSupport

/// Python has an allocator of its own for its objects, unless it is told to do without.
@Suite struct PythonAllocatorTests {
  private static let gap =
    "brings its own allocator along (pymalloc, PyObject_Malloc); what it allocates by its own functions is not "
    + "recorded without PYTHONMALLOC=malloc"

  /// What `record` says, and what `info` says of the process and of the child that it forks.
  private func gaps(_ setting: String, _ options: [String] = []) throws -> [Bool] {
    let program = try TestProgram("python_allocator.c").path.string
    let folder = try ScratchDirectory()
    let environment = TracedRun.minimalEnvironment + ["PYTHONMALLOC=\(setting)"]
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "-o", "root.mtrace", "--", program] + options,
      environment: environment, directory: folder.path)
    #expect(run.outputText == "done\n")
    let traces = try folder.entries.filter { $0.hasSuffix(".mtrace") }.sorted().map {
      try ProcessRun.run(
        [BuiltProducts.memtrace.string, "info", $0], environment: TracedRun.minimalEnvironment,
        directory: folder.path
      ).outputText
    }
    #expect(traces.count == 2)
    return ([run.errorText] + traces).map { $0.contains(Self.gap) }
  }

  @Test(arguments: ["malloc", "malloc_debug"]) func objectsInMallocAreNoGap(setting: String) throws
  {
    #expect(try gaps(setting) == [false, false, false])
  }

  @Test(arguments: ["", "debug", "pymalloc"]) func objectsElsewhereAre(setting: String) throws {
    #expect(try gaps(setting) == [true, true, true])
  }

  @Test func soTheyAreWhereTheVariableIsNotLookedAt() throws {
    #expect(try gaps("malloc", ["-I"]) == [true, true, true])
  }
}
