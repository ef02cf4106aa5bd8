import Testing

@testable import TraceReader

/// Threads: none is lost, and no block has two owners.
@Suite(.serialized) struct ThreadTests {
  @Test(arguments: [(1000, 8), (100_000, 64)])
  func shortLivedThreadsAreRecorded(total: Int, atOnce: Int) throws {
    let program = try TestProgram("threads.c")
    let run = try TracedRun([program.path.string, String(total), String(atOnce)], timeout: 120)
    let root = try run.root()
    let events = try MarkedEvents(root)

    #expect(events[16001] == .init(allocated: total, freed: total))
    #expect(events[16002] == .init(allocated: total, freed: total))
    #expect(events.doubleOwners == 0)
    #expect(root.coverage.threadsLost == 0)
    #expect(root.threads.count > total)
    // The rest of a thread's chunk goes to the next thread.
    #expect(root.fileSize < UInt64(total) * 1024 + 64 << 20)
  }

  /// They have some 180 KiB each, of which so many as most programs have keep theirs.
  @Test func threadsAtOnceGiveTheirMemoryBackWhenTheyEnd() throws {
    let run = try TracedRun([try TestProgram("thread_burst.c").path.string, "500", "60"])
    let events = try MarkedEvents(try run.root())

    #expect(run.recorded.outputText == "ended\n")
    #expect(events[47001] == .init(allocated: 150_000, freed: 150_000))
    #expect(events.doubleOwners == 0)
  }

  @Test func blocksThatChangeHandsHaveOneOwner() throws {
    let run = try TracedRun([try TestProgram("hand_over.c").path.string])
    let root = try run.root()
    let events = try MarkedEvents(root)

    #expect(events.doubleOwners == 0)
    #expect(events.unknownFrees == 0)
    #expect(try root.replay().errors.isEmpty)
  }

  @Test func allocationsOfEndingThreadsAreRecorded() throws {
    let run = try TracedRun([try TestProgram("thread_exit.cpp").path.string])
    let events = try MarkedEvents(try run.root())

    // 4 rounds of key destructors (PTHREAD_DESTRUCTOR_ITERATIONS) in 10 threads.
    #expect(events[17001] == .init(allocated: 40, freed: 40))
    #expect(events[17002] == .init(allocated: 10, freed: 10))
    #expect(events[17003] == .init(allocated: 10, freed: 10))
  }

  /// Nothing tells that they end: each goes on where one before it ended.
  @Test func threadsThatAllocateAtTheirVeryEndLeaveNothingBehind() throws {
    let run = try TracedRun([try TestProgram("late_threads.c").path.string, "1000"])
    let root = try run.root()

    #expect(run.recorded.outputText == "ended\n")
    #expect(try MarkedEvents(root)[16003] == .init(allocated: 1000, freed: 1000))
    #expect(root.threads.count == 1001)
    #expect(root.eventChunks().count < 8)
  }

  @Test func keysOfThreadsHaveTheNumbersThatTheyHadBefore() throws {
    let run = try TracedRun([try TestProgram("keys.c").path.string])
    let events = try MarkedEvents(try run.root())

    #expect(run.recorded.outputText == "(nil)\n22\n22\nkey 0\nkey 1\nkey 2\n")
    #expect(events[65001] == .init(allocated: 12, freed: 12))
    #expect(events[65002] == .init(allocated: 12, freed: 12))
  }

  /// The recorder has a key, until the program has all others and wants one more.
  @Test(arguments: ["pthread_key_create", "tss_create"])
  func allKeysOfThreadsAreTheProgramsWhereItWantsThem(function: String) throws {
    let program = try TestProgram("all_keys.c", flags: ["-pthread"])
    let run = try TracedRun([program.path.string, function])
    let trace = try run.root()

    #expect(run.recorded.outputText == "1024 keys\n1\n")
    #expect(try MarkedEvents(trace)[65001] == .init(allocated: 100, freed: 100))
    #expect(trace.threads.count == 101)
  }
}
