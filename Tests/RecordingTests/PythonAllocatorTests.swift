import Foundation
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

  /// What `info` says of a program whose Python is a library, as that of most distributions is.
  private func libraryGap(_ setting: String, _ options: [String] = []) throws -> Bool {
    let library = try TestProgram("python_allocator.c", flags: ["-shared", "-fPIC"])
    let folder = try ScratchDirectory()
    let path = folder.path.appending("libpython3.99.so.1.0").string
    try FileManager.default.copyItem(atPath: library.path.string, toPath: path)
    let program = try TestProgram("embedded_python.c").path.string
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "info", "--", program, path] + options,
      environment: TracedRun.minimalEnvironment + ["PYTHONMALLOC=\(setting)"],
      directory: folder.path)
    return run.outputText.contains("\(path) \(Self.gap)")
  }

  @Test func objectsOfALibraryAreElsewhere() throws {
    #expect(try libraryGap(""))
  }

  /// Options are those of the program that has Python in it.
  @Test func objectsOfALibraryInMallocAreNoGap() throws {
    #expect(try !libraryGap("malloc", ["-I"]))
  }
}
