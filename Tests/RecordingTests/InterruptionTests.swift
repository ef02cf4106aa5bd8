import Testing
import TraceReader
import TraceTestSupport

/// Hosts that interrupt, leave or crowd the recorder where it is least convenient.
@Suite struct InterruptionTests {
  @Test(arguments: ["jump", "jump-alternate"])
  func aHandlerMayJumpOutOfAnyHook(way: String) throws {
    let allocator = try TestProgram("leavable_allocator.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun(
      [try TestProgram("interrupted.c").path.string, way, "3000"],
      environment: ["LD_PRELOAD=\(allocator.path)"], timeout: 300)
    #expect(run.recorded.outputText == "3000\n")
    // Recording goes on after the jumps, with stacks.
    let lives = try MarkedEvents(try run.root()).lives[33001] ?? []
    #expect(lives.count == 1000)
    #expect(!lives.contains { $0.allocation.stack == .none })
  }

  #if arch(x86_64)
    @Test func aProgramMayStepItselfThroughAnyHook() throws {
      let run = try TracedRun([try TestProgram("stepped.c").path.string])
      #expect(run.recorded.outputText == "stepped\n")
      #expect(try MarkedEvents(try run.root())[35001] == .init(allocated: 200, freed: 200))
    }
  #endif

  @Test func aHookThatWasLeftIsToldFromOneThatRuns() throws {
    let allocator = try TestProgram("leavable_allocator.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun(
      [try TestProgram("left_hooks.c").path.string],
      environment: ["LD_PRELOAD=\(allocator.path)"])
    #expect(run.recorded.outputText == "done\n")
    let lives = try MarkedEvents(try run.root()).lives
    for size: UInt64 in [33001, 33003] {
      #expect(lives[size]?.count == 1000)
      #expect(lives[size]?.contains { $0.allocation.stack == .none } == false)
    }
  }

  @Test func aHandlerMayEndItsThreadInAnyHook() throws {
    let allocator = try TestProgram("leavable_allocator.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun(
      [try TestProgram("exiting_threads.c", flags: ["-pthread"]).path.string, "300"],
      environment: ["LD_PRELOAD=\(allocator.path)"], timeout: 300)
    #expect(run.recorded.outputText == "300\n")
    // Each thread goes on where the one before it was interrupted.
    let events = try MarkedEvents(try run.root())
    #expect(events[33001] == .init(allocated: 3000, freed: 3000))
    #expect(events.lives[33001]?.contains { $0.allocation.stack == .none } == false)
  }

  @Test func aHandlerMayForkInAnyHook() throws {
    let allocator = try TestProgram("leavable_allocator.c", flags: ["-shared", "-fPIC"])
    let run = try TracedRun(
      [try TestProgram("interrupted.c").path.string, "fork", "300"],
      environment: ["LD_PRELOAD=\(allocator.path)"], timeout: 300)
    #expect(run.recorded.outputText == "300\n")
    #expect(try MarkedEvents(try run.root())[33001] == .init(allocated: 1000, freed: 1000))
  }

  @Test(
    arguments: [
      "allocate", "fork", "fork-exec", "vfork-exec", "spawn", "dlopen", "clone-execve",
      "clone-execvp", "clone-execveat", "clone-fexecve",
    ])
  func theSmallestStackSuffices(what: String) throws {
    let run = try TracedRun([try TestProgram("small_stacks.c").path.string, what])
    #expect(run.recorded.outputText == "\(what): 0\n")
  }

  @Test func whatExecRefusesIsRefused() throws {
    let run = try TracedRun([try TestProgram("refused_execs.c").path.string])
    #expect(run.recorded.outputText.split(separator: "\n").count == 12)
  }

  @Test func aForkDoesNotCatchTheLoadersLockInOperatorNew() throws {
    let run = try TracedRun([try TestProgram("loader_lock.c").path.string], timeout: 120)
    #expect(run.recorded.outputText == "done\n")
  }

  #if arch(x86_64)
    @Test func aForkDoesNotCatchTheLoadersLock() throws {
      let run = try TracedRun([try TestProgram("generated_code.c").path.string], timeout: 300)
      #expect(run.recorded.outputText == "done\n")
    }
  #endif
}
