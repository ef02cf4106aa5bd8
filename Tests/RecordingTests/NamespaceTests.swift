import Testing
import TraceReader
import TraceTestSupport

/// Libraries in a namespace of their own, by `dlmopen` and `LD_AUDIT`: what cannot be recorded is said.
@Suite struct NamespaceTests {
  @Test func blocksOfAnotherCLibraryAreNamedAsAGap() throws {
    let library = try TestProgram("namespace_library.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun([try TestProgram("namespace.c").path.string, library.path.string])
    #expect(run.recorded.outputText == "42\n1\n")
    let heap = try run.root().replay()
    #expect(heap.coverage.bypassed == ["allocator functions: \(library.path)"])
    #expect(heap.errors.isEmpty)
    let events = try MarkedEvents(try run.root())
    #expect(events[1001] == .init(allocated: 1, freed: 1))
    #expect(events[1002] == .init(allocated: 0, freed: 0))
  }

  /// Known since glibc 2.35, whose list for debuggers has all namespaces.
  @Test func blocksOfAnAuditorAreNamedAsAGap() throws {
    let library = try TestProgram("auditor.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun(["/bin/true"], environment: ["LD_AUDIT=\(library.path)"])
    #expect(run.recorded.status == 0)
    #expect(try run.root().coverage.bypassed == ["allocator functions: \(library.path)"])
  }
}
