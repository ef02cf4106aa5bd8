import Testing
import TraceReader
import TraceTestSupport

/// Functions that an allocator in a library has beside those of the C library: `mallocx` of jemalloc.
@Suite struct BesideMallocTests {
  private let library: TestProgram
  private let program: TestProgram

  init() throws {
    // As in jemalloc, its functions call each other directly.
    library = try TestProgram(
      "beside_allocator.c", flags: ["-shared", "-fPIC", "-Wl,-Bsymbolic"])
    program = try TestProgram(
      "beside_malloc.c", flags: ["-Wl,--no-as-needed", library.path.string])
  }

  @Test(arguments: [[], ["--zombies"], ["--redzones"], ["--guard"]])
  func theirBlocksAreRecorded(options: [String]) throws {
    let trace = try TracedRun([program.path.string], start: .launcher(options)).root()
    let events = try MarkedEvents(trace)
    // Blocks may be replaced: then none grows where it is.
    let grown = options.isEmpty ? 1 : 0
    #expect(events[2007] == .init(allocated: grown, freed: grown))
    let expected: [UInt64: MarkedEvents.Figures] = [
      1001: .init(allocated: 10, freed: 10), 1006: .init(allocated: 1, freed: 1),
      2006: .init(allocated: 1, freed: 1), 1041: .init(allocated: 2, freed: 2),
      2041: .init(allocated: 1, freed: 1),
      1021: .init(allocated: 1, freed: 0), 1022: .init(allocated: 1, freed: 0),
      1005: .init(allocated: 1, freed: 0), 1031: .init(allocated: 1, freed: 1),
      2031: .init(allocated: 1, freed: 1), 1032: .init(allocated: 1, freed: 1),
    ]
    for (size, figures) in expected {
      #expect(events[size] == figures, "blocks of \(size) bytes")
    }
    #expect(try trace.replay().errors.isEmpty)
    #expect(!trace.coverage.mayMissAllocations)
  }

  /// A limit is for blocks of malloc, and has to do with these neither when they are made nor when they end.
  @Test func theyDoNotCountForALimit() throws {
    let run = try TracedRun(
      [program.path.string, "limit"], start: .launcher(["--limit", "50000"]))
    let events = try MarkedEvents(run.root())
    #expect(events[1061] == .init(allocated: 100, freed: 100))
    #expect(events[100_061] == .init(allocated: 0, freed: 0))
  }

  /// A block of which nothing was known held nothing.
  @Test func whatTheyHoldIsNotLeaked() throws {
    let run = try TracedRun([program.path.string])
    let leaked = try LeakedProgram(run.root()).report.leaked
    #expect((leaked.count, leaked.bytes) == (1, 1005))
  }

  private func replayed(making block: String) throws -> (
    events: MarkedEvents, heap: ReplayResult, path: String
  ) {
    let program = try TestProgram(
      "beside_heap.c", flags: ["-DMAKER=\(block)", "-Wl,--no-as-needed", library.path.string])
    let trace = try TracedRun([program.path.string]).root()
    return (try MarkedEvents(trace), try trace.replay(), program.path.string)
  }

  /// They were invalid frees.
  @Test(arguments: ["mi_heap_malloc(NULL, 1051)", "mi_new_n(1, 1051)", "mi_realpath(NULL, NULL)"])
  func freesOfBlocksThatAreNotSeenAreNoErrors(block: String) throws {
    let (events, heap, path) = try replayed(making: block)
    #expect(events[1051] == .init(allocated: 0, freed: 0))
    #expect(events[1052] == .init(allocated: 1, freed: 1))
    #expect(heap.coverage.bypassed == ["\(block.prefix { $0 != "(" }): \(path)"])
    #expect(heap.errors.isEmpty)
    #expect(heap.coverage.unknownFrees == 1)
  }

  @Test func whatMakesNoBlocksBypassesNothing() throws {
    let (events, heap, _) = try replayed(making: "malloc(1051)")
    #expect(events[1051] == .init(allocated: 1, freed: 1))
    #expect(heap.coverage.bypassed.isEmpty)
    #expect(!heap.coverage.mayMissAllocations)
  }

  @Test func aForkedChildGoesOn() throws {
    let run = try TracedRun([program.path.string])
    let children = try run.traces.map { try Trace(path: $0) }
      .filter { $0.header.flags.contains(.forked) }
    #expect(children.count == 1)
    let child = try #require(children.first)
    #expect(try MarkedEvents(child)[1013] == .init(allocated: 1, freed: 0))
  }
}
