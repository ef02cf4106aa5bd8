import Testing
import TraceReader
import TraceTestSupport

/// Allocators that are linked into the executable: nothing preloaded comes between, so that their calls
/// are led to the recorder (`--bundled-allocator`).
@Suite struct BundledAllocatorTests {
  private struct Recording {
    let run: TracedRun
    let trace: Trace
    let heap: ReplayResult
    let events: MarkedEvents

    init(_ flags: [String], options: [String] = ["--bundled-allocator"]) throws {
      let program = try TestProgram("bundled.c", flags: flags)
      run = try TracedRun(
        [program.path.string], start: .launcher(options), comparesErrors: !options.isEmpty)
      trace = try run.root()
      heap = try trace.replay()
      events = try MarkedEvents(trace)
    }

    /// What the calls of the executable itself must have left, whatever it was linked with.
    func expectCalls(pointers: Int = 10, sourceLocation: SourceLocation = #_sourceLocation) {
      let expected: [UInt64: MarkedEvents.Figures] = [
        1001: .init(allocated: 20, freed: 20),
        1002: .init(allocated: 10, freed: 10),
        1003: .init(allocated: pointers, freed: pointers),
        1004: .init(allocated: 1, freed: 1),
        1005: .init(allocated: 1, freed: 0),
        1006: .init(allocated: 1, freed: 1),
        2006: .init(allocated: 1, freed: 1),
        3006: .init(allocated: 1, freed: 1),
        3007: .init(allocated: 1, freed: 1),
        9999: .init(allocated: 0, freed: 0),
        1007: .init(allocated: 1, freed: 0),
        1008: .init(allocated: 2, freed: 2),
        1009: .init(allocated: 1, freed: 1),
        1011: .init(allocated: 400, freed: 400),
        1012: .init(allocated: 1, freed: 1),
      ]
      for (size, figures) in expected {
        #expect(events[size] == figures, "blocks of \(size) bytes", sourceLocation: sourceLocation)
      }
      #expect(events.doubleOwners == 0, sourceLocation: sourceLocation)
      #expect(heap.errors.isEmpty, sourceLocation: sourceLocation)
      #expect(heap.coverage.bypassed.isEmpty, sourceLocation: sourceLocation)
      #expect(heap.coverage.unknownFrees == 0, sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: ["", "je_", "_rjem_", "mi_"])
  func allCallsAreSeen(prefix: String) throws {
    let recording = try Recording(
      ["-DPREFIX=\(prefix)"] + (prefix == "mi_" ? ["-DMIMALLOC"] : []))
    recording.expectCalls()
    #expect(Set(recording.events.functions(1001)) == [["malloc", "free"]])
    #expect(Set(recording.events.functions(1007)) == [["calloc"]])
    #expect(recording.events[1010].allocated == (prefix == "mi_" ? 1 : 0))
    #expect(recording.events[2010].freed == (prefix == "mi_" ? 1 : 0))
    let leaked = try LeakedProgram(recording.trace).report.leaked
    #expect((leaked.count, leaked.bytes) == (1, 1005))
    let notes = recording.trace.notes.filter { $0.kind == .bundled }
    #expect(notes.count == 1)
    #expect(notes.first?.text.hasPrefix("\(prefix)malloc, \(prefix)calloc, ") == true)
  }

  @Test(arguments: [["-fPIE", "-pie", "-O2"], ["-fno-plt"], ["-Wl,-z,now"], ["-Wl,-z,norelro"]])
  func allCallsAreSeenHoweverTheExecutableIsLinked(flags: [String]) throws {
    try Recording(flags).expectCalls()
  }

  /// Where the linker can write relocations as maps of bits, the loader can read them.
  @Test func packedRelocationsAreRead() throws {
    guard let recording = try? Recording(["-Wl,-z,pack-relative-relocs"]) else { return }
    recording.expectCalls()
  }

  /// Nothing tells pointers from numbers in its data.
  @Test func anExecutableAtFixedAddressesKeepsItsPointers() throws {
    try Recording(["-no-pie", "-fno-pie"]).expectCalls(pointers: 0)
  }

  @Test func aStrippedExecutableIsKnownByWhatItExports() throws {
    let recording = try Recording(["-s"])
    #expect(recording.events[1001] == .init(allocated: 20, freed: 20))
    #expect(recording.events[1003] == .init(allocated: 10, freed: 10))
    #expect(recording.events[1012] == .init(allocated: 1, freed: 1))
    #expect(recording.heap.errors.isEmpty)
  }

  @Test func aForkedChildGoesOn() throws {
    let recording = try Recording([])
    let children = try recording.run.traces.map { try Trace(path: $0) }
      .filter { $0.header.flags.contains(.forked) }
    #expect(children.count == 1)
    let child = try #require(children.first)
    #expect(try MarkedEvents(child)[1013] == .init(allocated: 1, freed: 0))
    #expect(child.coverage.bundled.count == 1)
  }

  @Test func itIsLeftAloneUnlessAskedFor() throws {
    let recording = try Recording([], options: [])
    #expect(recording.events[1001] == .init(allocated: 0, freed: 0))
    #expect(recording.trace.coverage.bundled.isEmpty)
    #expect(recording.heap.coverage.bypassed.count == 3)
  }

  /// `free` and `operator delete` are one function: what was called cannot be told, and is no error.
  @Test func operatorsThatAreTheAllocatorsAreNoMismatch() throws {
    let program = try TestProgram("bundled.cpp")
    let run = try TracedRun([program.path.string], start: .launcher(["--bundled-allocator"]))
    let trace = try run.root()
    let events = try MarkedEvents(trace)
    #expect(trace.header.flags.contains(.oneFamily))
    #expect(events[1001] == .init(allocated: 11, freed: 11))
    #expect(events[1200] == .init(allocated: 1, freed: 1))
    #expect(try trace.replay().errors.isEmpty)
  }

  @Test(arguments: ["je_", "_rjem_", "mi_"])
  func aLibraryMayHaveOneForItself(prefix: String) throws {
    let library = try TestProgram(
      "bundled_plugin.c", flags: ["-shared", "-fPIC", "-DPREFIX=\(prefix)"])
    let host = try TestProgram("bundled_host.c")
    let run = try TracedRun(
      [host.path.string, library.path.string], start: .launcher(["--bundled-allocator"]))
    let trace = try run.root()
    let events = try MarkedEvents(trace)
    #expect(events[1001] == .init(allocated: 10, freed: 10))
    #expect(events[1005] == .init(allocated: 1, freed: 0))
    #expect(trace.coverage.bundled.count == 1)
    #expect(trace.coverage.bundled.first?.hasSuffix(": \(library.path)") == true)
  }

  /// Another thread might execute what is written.
  @Test func aLibraryThatComesWhileThereAreThreadsIsLeftAlone() throws {
    let library = try TestProgram(
      "bundled_plugin.c", flags: ["-shared", "-fPIC", "-DPREFIX=je_"])
    let host = try TestProgram("bundled_host.c")
    let run = try TracedRun(
      [host.path.string, library.path.string, "thread"],
      start: .launcher(["--bundled-allocator"]))
    let trace = try run.root()
    #expect(try MarkedEvents(trace)[1001] == .init(allocated: 0, freed: 0))
    #expect(trace.coverage.bundled.isEmpty)
    #expect(
      trace.coverage.notes == [
        "an allocator is not recorded, since there were threads before it: \(library.path)"
      ])
  }

  /// A library of Python that is written in Rust often has jemalloc for itself.
  @Test func whatALibraryHasForItselfIsSaid() throws {
    let library = try TestProgram("deep_bind_plugin.c", flags: ["-shared", "-fPIC", "-DJEMALLOC"])
    let program = try TestProgram("deep_bind.c")
    let check = try ProcessRun.run([
      BuiltProducts.memtrace.string, "check", "--", program.path.string, library.path.string, "now",
    ])
    #expect(
      check.outputText.contains(
        ": \(library.path) has jemalloc linked in: what it allocates by it is not recorded\n"))
  }

  /// Nothing calls its functions by names that the recorder has.
  @Test func theGateDoesNotPassWhatItCannotSee() throws {
    let program = try TestProgram("bundled.c", flags: ["-DPREFIX=je_"])
    func check(_ options: [String]) throws -> ProcessRun {
      try ProcessRun.run(
        [BuiltProducts.memtrace.string, "check"] + options + ["--", program.path.string])
    }
    let unseen = try check([])
    #expect(unseen.status == 87)
    #expect(
      unseen.outputText.contains(
        "an allocator in the program is not recorded: jemalloc; --bundled-allocator records it"))
    let seen = try check(["--bundled-allocator"])
    #expect(seen.status == 86)
    #expect(seen.outputText.contains("1005"))
  }

  @Test func theCommandLineSaysHowToSeeIt() throws {
    let program = try TestProgram("bundled.c")
    let directory = try ScratchDirectory()
    func record(_ options: [String]) throws -> ProcessRun {
      try ProcessRun.run(
        [BuiltProducts.memtrace.string, "record", "--force", "-o", "a.mtrace"] + options
          + ["--", program.path.string], directory: directory.path)
    }
    #expect(try record([]).errorText.contains("is not recorded without --bundled-allocator"))
    #expect(try !record(["--bundled-allocator"]).errorText.contains("its own allocator"))
    let refused = try record(["--bundled-allocator", "--zombies"])
    #expect(refused.status == 64)
    #expect(refused.errorText.contains("leave --bundled-allocator out"))
  }
}
