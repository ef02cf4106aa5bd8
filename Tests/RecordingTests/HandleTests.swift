import Foundation
import Testing
import TraceReader

/// Functions that a program gets by `dlsym` from a handle of the C library.
@Suite struct HandleTests {
  @Test func whatTheyAllocateAndFreeIsRecorded() throws {
    try expectAll(try TracedRun([try TestProgram("by_handle.c").path.string]))
  }

  @Test func anotherPreloadMayAnswerWhatItWants() throws {
    let other = try TestProgram("other_dlsym.c", flags: ["-shared", "-fPIC"])
    try expectAll(
      try TracedRun(
        [try TestProgram("by_handle.c").path.string, "overlaid"],
        environment: ["LD_PRELOAD=\(other.path)"]))
  }

  private func expectAll(
    _ run: TracedRun, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(run.recorded.status == 0, sourceLocation: sourceLocation)
    let trace = try run.root()
    let events = try MarkedEvents(trace)
    for size in [20001, 20002, 20003, 20004, 20006] as [UInt64] {
      #expect(events[size] == .init(allocated: 1, freed: 1), sourceLocation: sourceLocation)
    }
    for size in [20005, 20007] as [UInt64] {
      #expect(events[size] == .init(allocated: 1), sourceLocation: sourceLocation)
    }
    let result = try trace.replay()
    #expect(result.errors.isEmpty, sourceLocation: sourceLocation)
    #expect(result.coverage.unknownFrees == 0, sourceLocation: sourceLocation)
    let leaks = try LeakedProgram(trace).report
    #expect((leaks.leaked.count, leaks.leaked.bytes) == (1, 20005), sourceLocation: sourceLocation)
    // By the hook of `_exit` alone.
    #expect(trace.ending == .underscoreExit(0), sourceLocation: sourceLocation)
  }

  /// The C library's functions are next after a library that was opened later.
  @Test func whatIsNextForALibraryIsRecorded() throws {
    let library = try TestProgram("next_plugin.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun([try TestProgram("next_host.c").path.string, library.path.string])
    #expect(run.recorded.status == 0)
    #expect(run.recorded.outputText == "")
    let trace = try run.root()
    let events = try MarkedEvents(trace)
    for size in [20001, 20002, 20003, 20004] as [UInt64] {
      #expect(events[size] == .init(allocated: 1, freed: 1))
    }
    let result = try trace.replay()
    #expect(result.errors.isEmpty)
    #expect((result.coverage.unknownFrees, result.coverage.implicitlyFreed) == (0, 0))
    #expect(try LeakedProgram(trace).report.leaked.count == 0)
  }

  /// Whose next function is meant is known to `dlsym` alone.
  @Test func whatIsNextIsNotOursWhereAnotherLibraryAllocates() throws {
    let library = try TestProgram("next_plugin.c", flags: ["-shared", "-fPIC"])
    let wrapper = try TestProgram("wrapper.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun([
      try TestProgram("next_host.c").path.string, wrapper.path.string, library.path.string,
    ])
    #expect(run.recorded.status == 0)
    #expect(run.recorded.outputText == "")
    #expect(try MarkedEvents(try run.root())[20002] == .init())
  }

  @Test func childrenMayAskAmidADlopenOfTheirParent() throws {
    let library = try TestProgram("plugin.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun(
      [try TestProgram("handle_forks.c").path.string, library.path.string], timeout: 120)
    #expect(run.recorded.outputText == "0 children failed\n")
  }

  /// A library in front of the C library's allocator asks a handle of that for what it wraps.
  @Test func aWrapperGetsWhatItWraps() throws {
    let wrapper = try TestProgram("wrapper.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun(
      [try TestProgram("table.c").path.string], environment: ["LD_PRELOAD=\(wrapper.path)"])
    #expect(run.recorded.status == 0)
    #expect(try run.root().replay().errors.isEmpty)
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")))
  func ctypesIsRecorded() throws {
    let run = try TracedRun([
      "/usr/bin/python3", "-c",
      """
      import ctypes
      c = ctypes.CDLL("libc.so.6")
      c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
      own = ctypes.CDLL(None)
      own.free.argtypes = [ctypes.c_void_p]
      for i in range(10): c.malloc(3000001)
      for i in range(10): own.free(c.malloc(3000002))
      """,
    ])
    #expect(run.recorded.status == 0)
    let trace = try run.root()
    let events = try MarkedEvents(trace)
    #expect(events[3000001] == .init(allocated: 10))
    #expect(events[3000002] == .init(allocated: 10, freed: 10))
    #expect(try trace.replay().errors.isEmpty)
  }
}
