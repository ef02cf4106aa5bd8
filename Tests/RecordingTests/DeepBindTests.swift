import Reports
import Testing
import TraceReader
import TraceTestSupport

/// Libraries that look their symbols up past the recorder: opened with `RTLD_DEEPBIND`.
@Suite struct DeepBindTests {
  private struct Recording {
    let run: TracedRun
    let trace: Trace
    let heap: ReplayResult
    let leaks: LeaksReport

    init(
      _ library: String, mode: String = "now", environment: [String] = []
    ) throws {
      run = try TracedRun(
        [try TestProgram("deep_bind.c").path.string, library, mode], environment: environment)
      trace = try run.root()
      heap = try trace.replay()
      leaks = try LeakedProgram(trace).report
    }

    init(_ library: TestProgram, mode: String = "now") throws {
      try self.init(library.path.string, mode: mode)
    }
  }

  private static func plugin(_ flags: String...) throws -> TestProgram {
    try TestProgram("deep_bind_plugin.c", flags: ["-shared", "-fPIC"] + flags)
  }

  @Test(
    arguments: [
      ["-Wl,-z,lazy"], ["-Wl,-z,now"], ["-fno-plt"], ["-Wl,-z,norelro"], ["-DBY_HANDLE"],
      ["-DBY_HANDLE", "-fno-plt"],
    ],
    ["lazy", "now"])
  func blocksThatPassThroughTheLibraryAreSeen(flags: [String], mode: String) throws {
    let recording = try Recording(
      try TestProgram("deep_bind_plugin.c", flags: ["-shared", "-fPIC"] + flags), mode: mode)
    #expect(recording.run.recorded.outputText == "opened\n")
    #expect((recording.leaks.leaked.count, recording.leaks.leaked.bytes) == (1, 1004))
    #expect(recording.heap.coverage.unknownFrees == 0)
    #expect(recording.heap.coverage.bypassed.isEmpty)
    #expect(recording.heap.coverage.boundLate.isEmpty)
    #expect(recording.heap.errors.isEmpty)
    let events = try MarkedEvents(recording.trace)
    #expect(events[1001] == .init(allocated: 20, freed: 20))
    #expect(events[1002] == .init(allocated: 10, freed: 10))
    #expect(events[1003] == .init(allocated: 10, freed: 10))
    #expect(events[1004] == .init(allocated: 1, freed: 0))
  }

  /// Kernels are linked with a search path of their own on some systems, which is in their image of each process.
  @Test func aLibraryOpenedByItsNameAloneIsSeen() throws {
    let folder = try ScratchDirectory()
    let name = "libplugin_of_deep_bind.so"
    let copied = folder.path.appending(name).string
    _ = try ProcessRun.run(["/bin/cp", try Self.plugin().path.string, copied])
    let recording = try Recording(name, environment: ["LD_LIBRARY_PATH=\(folder.path)"])
    #expect(recording.run.recorded.outputText == "opened\n")
    #expect((recording.leaks.leaked.count, recording.leaks.leaked.bytes) == (1, 1004))
    #expect(recording.heap.coverage.bypassed.isEmpty)
  }

  @Test func librariesThatTheLibraryOpensInTheSameWayAreSeen() throws {
    let inner = try Self.plugin()
    let recording = try Recording(try Self.plugin("-DINNER=\"\(inner.path)\""))
    #expect((recording.leaks.leaked.count, recording.leaks.leaked.bytes) == (1, 1004))
    #expect(recording.heap.coverage.unknownFrees == 0)
    #expect(recording.heap.coverage.bypassed.isEmpty)
    let events = try MarkedEvents(recording.trace)
    #expect(events[1002] == .init(allocated: 10, freed: 10))
    #expect(events[1003] == .init(allocated: 10, freed: 10))
  }

  /// What the initialiser allocated is not in the trace, and may hold what is.
  @Test func whatTheInitialiserAllocatedHoldsBlocks() throws {
    let library = try Self.plugin("-Wl,-z,now", "-DINITIALISER")
    let recording = try Recording(library)
    #expect((recording.leaks.leaked.count, recording.leaks.leaked.bytes) == (1, 1004))
    #expect(recording.heap.coverage.boundLate == [library.path.string])
    #expect(
      CoverageSummary(recording.heap.coverage).warnings.contains { $0.contains("RTLD_DEEPBIND") })
  }

  @Test func aLibraryWithAnAllocatorKeepsIt() throws {
    let library = try TestProgram("deep_bind_allocator.c", flags: ["-shared", "-fPIC"])
    let recording = try Recording(library)
    #expect(recording.run.recorded.status == 0)
    #expect(recording.heap.coverage.bypassed.count == 1)
    #expect(recording.heap.coverage.bypassed.first?.hasSuffix(": \(library.path)") == true)
    // Nobody freed the program's own.
    #expect(try MarkedEvents(recording.trace)[1001] == .init(allocated: 20, freed: 0))
  }

  /// The loader searches where the program says that opens it, so the recorder lets it, and knows only later what was
  /// found.
  @Test(arguments: [true, false]) func aLibrarySearchedForOnBehalfOfTheProgramIsNamed(
    isFound: Bool
  ) throws {
    let folder = try ScratchDirectory()
    let path = folder.path.appending("libplugin_of_deep_bind.so").string
    if isFound { _ = try ProcessRun.run(["/bin/cp", try Self.plugin().path.string, path]) }
    let program = try TestProgram("deep_bind.c", flags: ["-Wl,-rpath,\(folder.path)"])
    let run = try TracedRun([program.path.string, "libplugin_of_deep_bind.so", "now"])
    #expect(run.recorded.status == (isFound ? 0 : 1))
    let bypassed = try run.root().replay().coverage.bypassed
    #expect(bypassed == (isFound ? ["allocator functions: \(path)"] : []))
  }
}
