import Testing

/// Every function that allocates or frees gives one event with its name and size.
@Suite struct EntryPointTests {
  @Test func functionsOfCAreRecordedByName() throws {
    let run = try TracedRun([try TestProgram("entry_points.c").path.string])
    let events = try MarkedEvents(try run.root())

    #expect(events.functions(10001) == [["malloc", "free"]])
    #expect(events.functions(10002) == [["calloc", "free"]])
    #expect(events.functions(10003) == [["realloc", "free"]])
    #expect(events.functions(10004) == [["malloc", "realloc"]])
    #expect(events.functions(90004) == [["realloc", "free"]])
    #expect(events.functions(10005) == [["reallocarray", "free"]])
    #expect(events.functions(10006) == [["posix_memalign", "free"]])
    #expect(events.functions(10048) == [["aligned_alloc", "free"]])
    #expect(events.functions(10008) == [["memalign", "free"]])
    #expect(events.functions(10009) == [["valloc", "free"]])
    #expect(events.functions(10010) == [["pvalloc", "free"]])
    #expect(events.functions(10011) == [["malloc", "realloc(p, 0)"]])
    #expect(events.functions(10012) == [["malloc"]])
    #expect(events.functions(10013) == [["malloc", "free_sized"]])
    #expect(events.functions(10112) == [["aligned_alloc", "free_aligned_sized"]])
    #expect(events.functions(10014) == [["malloc", "free"]])
  }

  @Test(arguments: [("entry_points.c", false), ("types.swift", true)])
  func itIsNotedOfWhatSizesAreAsked(program: String, isSwift: Bool) throws {
    let run = try TracedRun([try TestProgram(program).path.string])
    let flags = try run.root().header.flags
    #expect(flags.contains(.usableSizes))
    #expect(flags.contains(.usableSizesOfObjects) == isSwift)
  }

  @Test func alignmentsAreRecorded() throws {
    let run = try TracedRun([try TestProgram("entry_points.c").path.string])
    let events = try MarkedEvents(try run.root())

    #expect(events.lives[10006]?.first?.allocation.alignment == 64)
    #expect(events.lives[10048]?.first?.allocation.alignment == 64)
    #expect(events.lives[10008]?.first?.allocation.alignment == 128)
    #expect(events.lives[10112]?.first?.deallocation?.alignment == 64)
    #expect(events.lives[10112]?.first?.deallocation?.size == 10112)
  }

  @Test func failedAllocationsAreRecordedWithTheirFunction() throws {
    let run = try TracedRun([try TestProgram("entry_points.c").path.string])
    let events = try MarkedEvents(try run.root())

    let names = events.failures.values.joined().map(\.function.name).sorted()
    #expect(names.contains("malloc"))
    #expect(names.contains("calloc"))
    #expect(names.contains("reallocarray"))
  }

  @Test(arguments: ["g++", "clang++"])
  func operatorsOfCxxAreRecordedByForm(compiler: String) throws {
    let flags = compiler == "g++" ? [] : ["-fsized-deallocation"]
    let run = try TracedRun([try TestProgram("entry_points.cpp", flags: flags).path.string])
    let events = try MarkedEvents(try run.root())

    let forms = (UInt64(20001)...20012).map { events.functions($0) }
    #expect(
      forms == [
        [["operator new", "operator delete"]],
        [["operator new(nothrow)", "operator delete(nothrow)"]],
        [["operator new", "operator delete(size_t)"]],
        [["operator new(align_val_t)", "operator delete(align_val_t)"]],
        [["operator new(align_val_t, nothrow)", "operator delete(align_val_t, nothrow)"]],
        [["operator new(align_val_t)", "operator delete(size_t, align_val_t)"]],
        [["operator new[]", "operator delete[]"]],
        [["operator new[](nothrow)", "operator delete[](nothrow)"]],
        [["operator new[]", "operator delete[](size_t)"]],
        [["operator new[](align_val_t)", "operator delete[](align_val_t)"]],
        [["operator new[](align_val_t, nothrow)", "operator delete[](align_val_t, nothrow)"]],
        [["operator new[](align_val_t)", "operator delete[](size_t, align_val_t)"]],
      ])
  }

  @Test func blocksBeforeAndAfterMainAreRecorded() throws {
    let run = try TracedRun([try TestProgram("before_main.c").path.string])
    let events = try MarkedEvents(try run.root())

    // The first one comes before any library could initialise itself.
    #expect(events[11001] == .init(allocated: 1, freed: 1))
    #expect(events[11002] == .init(allocated: 1, freed: 1))
    #expect(events[11003] == .init(allocated: 1, freed: 1))
    #expect(events[11004] == .init(allocated: 1, freed: 1))
  }

  /// It may be the loader's first caller: nothing is looked up for it.
  @Test func anAllocatorThatSetsItselfUpIsNotWaitedFor() throws {
    let program = try TestProgram("begins_by_number.c", flags: ["-O2", "-rdynamic"])
    let run = try TracedRun([program.path.string], comparesErrors: false)

    #expect(run.recorded.outputText == "1\n")
    #expect(run.recorded.status == 5)
    #expect(try !run.root().coverage.bypassed.isEmpty)
  }

  @Test func swiftObjectsAreRecorded() throws {
    let run = try TracedRun([try TestProgram("objects.swift").path.string])
    let events = try MarkedEvents(try run.root())

    #expect(events[32001] == .init(allocated: 1, freed: 1))
    #expect(events.lives.values.contains { $0.count >= 1000 })
  }

  @Test func deallocationsOfAnotherFamilyAreFound() throws {
    let run = try TracedRun([try TestProgram("mismatched.cpp").path.string])
    let result = try run.root().replay()

    let mismatches = result.errors.filter { $0.kind == .mismatched }
    let sizes = mismatches.compactMap { $0.block?.size }.sorted()
    #expect(sizes == [31000, 31002, 31003])
  }

  @Test func errnoIsLeftAlone() throws {
    _ = try TracedRun([try TestProgram("errno.c").path.string])
  }

  /// A sized delete or a new[] that the program does not define calls those that it does.
  @Test(arguments: [["-O0"], ["-O2"], ["-O2", "-no-pie"]])
  func aProgramWithItsOwnOperatorsKeepsThem(_ flags: [String]) throws {
    let program = try TestProgram("own_operators.cpp", flags: flags)
    let run = try TracedRun([program.path.string])

    #expect(run.plain.outputText == "3 news, 3 deletes\n")
    #expect(run.recorded.outputText == run.plain.outputText)
    #expect(try run.root().replay().errors.isEmpty)
  }
}
