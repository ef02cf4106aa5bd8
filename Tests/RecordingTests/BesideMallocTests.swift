import Testing
import TraceReader
import TraceTestSupport

/// Functions that an allocator in a library has beside those of the C library: `mallocx` of jemalloc.
@Suite struct BesideMallocTests {
  private let run: TracedRun

  init() throws {
    let library = try TestProgram("beside_allocator.c", flags: ["-shared", "-fPIC"])
    let program = try TestProgram(
      "beside_malloc.c", flags: ["-Wl,--no-as-needed", library.path.string])
    run = try TracedRun([program.path.string])
  }

  @Test func theirBlocksAreRecorded() throws {
    let trace = try run.root()
    let events = try MarkedEvents(trace)
    let expected: [UInt64: MarkedEvents.Figures] = [
      1001: .init(allocated: 10, freed: 10), 1006: .init(allocated: 1, freed: 1),
      2006: .init(allocated: 1, freed: 1), 2007: .init(allocated: 1, freed: 1),
      1021: .init(allocated: 1, freed: 0), 1022: .init(allocated: 1, freed: 0),
      1005: .init(allocated: 1, freed: 0),
    ]
    for (size, figures) in expected {
      #expect(events[size] == figures, "blocks of \(size) bytes")
    }
    #expect(try trace.replay().errors.isEmpty)
    #expect(!trace.coverage.mayMissAllocations)
  }

  /// A block of which nothing was known held nothing.
  @Test func whatTheyHoldIsNotLeaked() throws {
    let leaked = try LeakedProgram(run.root()).report.leaked
    #expect((leaked.count, leaked.bytes) == (1, 1005))
  }

  @Test func aForkedChildGoesOn() throws {
    let children = try run.traces.map { try Trace(path: $0) }
      .filter { $0.header.flags.contains(.forked) }
    #expect(children.count == 1)
    let child = try #require(children.first)
    #expect(try MarkedEvents(child)[1013] == .init(allocated: 1, freed: 0))
  }
}
