import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// The recorder without its launcher.
@Suite struct PreloadTests {
  @Test func aBarePreloadWritesIntoTheWorkingDirectory() throws {
    let program = try TestProgram("table.c")
    let run = try TracedRun([program.path.string], start: .preload([]), comparesErrors: false)

    let name = try #require(program.path.lastComponent?.string)
    #expect(run.directory.entries == ["\(name).mtrace"])
    let trace = try #require(try run.allTraces().first)
    #expect(!trace.header.flags.contains(.launched))
    #expect(try MarkedEvents(trace)[1000] == .init(allocated: 5, freed: 4))
  }

  @Test func nothingIsOverwritten() throws {
    let program = try TestProgram("table.c")
    let directory = try ScratchDirectory()
    let output = directory.path.appending("one.mtrace")
    for _ in 0..<3 {
      _ = try TracedRun(
        [program.path.string], start: .preload(["MEMTRACE_OUTPUT=\(output)"]),
        comparesErrors: false)
    }
    #expect(directory.entries.count == 3)
    for name in directory.entries {
      let trace = try Trace(path: directory.path.appending(name))
      #expect(try MarkedEvents(trace)[1000] == .init(allocated: 5, freed: 4))
    }
  }

  @Test(arguments: ["/nonexistent/folder/x.mtrace", "/proc/x.mtrace"])
  func anImpossibleOutputIsSaidOnce(output: String) throws {
    let run = try TracedRun(
      [try TestProgram("fork.c").path.string],
      start: .preload(["MEMTRACE_OUTPUT=\(output)"]), comparesErrors: false)

    let lines = run.recorded.errorText.split(separator: "\n")
    #expect(lines.count == 1)
    #expect(lines.first?.contains(output) == true)
  }

  @Test(arguments: [["MEMTRACE_DEPTH=0"], ["MEMTRACE_DEPTH=x"], ["MEMTRACE_SESSION=short"]])
  func wrongSettingsDoNotStopTheRecording(settings: [String]) throws {
    let run = try TracedRun(
      [try TestProgram("table.c").path.string], start: .preload(settings), comparesErrors: false)
    #expect(run.traces.count == 1)
  }

  @Test func otherPreloadsAreKept() throws {
    let other = try TestProgram("other_preload.c", flags: ["-shared", "-fPIC"])
    let program = try TestProgram("fork.c")
    let run = try TracedRun(
      [program.path.string], environment: ["LD_PRELOAD=\(other.path)"])

    #expect(run.recorded.outputText.contains("other loaded"))
    #expect(run.traces.count == 2)
  }

  /// As many as a variable has room for.
  @Test func aLongListOfOtherPreloadsIsKept() throws {
    let other = try TestProgram("other_preload.c", flags: ["-shared", "-fPIC"])
    let program = try TestProgram("table.c")
    let list = Array(repeating: "libc.so.6", count: 10_000) + [other.path.string]
    let run = try TracedRun(
      ["/usr/bin/env", "LD_PRELOAD=\(list.joined(separator: ":"))", program.path.string])

    #expect(run.recorded.outputText.contains("other loaded"))
    #expect(try run.traces(of: program).count == 1)
  }

  @Test func aChildWithAnEmptyEnvironmentIsRecorded() throws {
    let program = try TestProgram("table.c")
    let run = try TracedRun(["/usr/bin/env", "-i", program.path.string])
    #expect(try run.traces(of: program).count == 1)
  }
}
