#if arch(x86_64)
  import Testing
  import TraceReader
  import TraceTestSupport

  /// Stacks of signal handlers, down to what was interrupted and its callers.
  @Suite struct HandlerStackTests {
    static let rounds = 5
    /// Frames of a recursion, which stacks show whole and not; the second time, it is known already.
    static let depths = ["5", "100", "300", "5", "300"]

    private func run(_ environment: [String]) throws -> Trace {
      let program = try TestProgram("handler_stacks.c", flags: ["-O1", "-no-pie", "-pthread"])
      return try TracedRun([program.path.string] + Self.depths, environment: environment).root()
    }

    /// How often each stack of the program's blocks occurs, with its own frames only: others lie
    /// elsewhere in each run.
    private func stacks(_ trace: Trace) throws -> [[Address]: Int] {
      var counts: [[Address]: Int] = [:]
      for lives in try MarkedEvents(trace).lives.filter({ 47_001...47_005 ~= $0.key }).values {
        for stack in lives.flatMap({ [$0.allocation.stack, $0.deallocation?.stack ?? .none] }) {
          let frames = trace.stacks.frames(of: stack).map(\.returnAddress)
            .filter { $0.rawValue < 1 << 32 }
          counts[frames, default: 0] += 1
        }
      }
      return counts
    }

    @Test func noneIsWalkedByLibunwind() throws {
      let trace = try run([])
      let events = try MarkedEvents(trace)
      let each = Self.depths.count * Self.rounds
      #expect(events[47_001] == .init(allocated: 2 * each, freed: 2 * each))
      #expect(events[47_002] == .init(allocated: each, freed: each))
      #expect(events[47_003] == .init(allocated: 5 * each, freed: 5 * each))
      #expect(events[47_005] == .init(allocated: each, freed: each))
      #expect(trace.coverage.stacksLibunwind == 0)
      #expect(trace.coverage.stacksRootless == 0)
    }

    @Test func theyAreThoseOfLibunwind() throws {
      let compared = try run(["MEMTRACE_UNWINDER=compare"]).coverage
      #expect(compared.stacksCompared >= UInt64(2 * 9 * Self.depths.count * Self.rounds))
      #expect(compared.stacksDifferent == 0)
      #expect(compared.stacksGuessDifferent == 0)

      let ours = try stacks(try run([]))
      #expect(ours.values.reduce(0, +) == 2 * 9 * Self.depths.count * Self.rounds)
      #expect(try ours == stacks(try run(["MEMTRACE_UNWINDER=libunwind"])))
    }

    /// The instruction in front of what was interrupted is another function's.
    @Test(arguments: ["auto", "libunwind"])
    func theInterruptedFunctionIsNamed(unwinder: String) throws {
      let program = try TestProgram("handler_stacks.c", flags: ["-O1", "-no-pie", "-pthread"])
      let trace = try TracedRun(
        [program.path.string, "first"], environment: ["MEMTRACE_UNWINDER=\(unwinder)"]
      ).root()
      let lives = try #require(MarkedEvents(trace).lives[47_006])
      let stack = try #require(lives.first).allocation.stack
      let names = FrameNames(trace)
      #expect(
        names.names(of: stack).prefix(4)
          == ["allocate_and_skip", ".", "first", "interrupt_first"])
      #expect(
        trace.stacks.frames(of: stack).prefix(4).map(\.isExact) == [false, false, true, false])
    }

    /// Handlers interrupt code that nothing describes but its frame pointers.
    ///
    /// The deepest is deeper than libunwind is let go.
    @Test(arguments: [1, 100, 20_000])
    func generatedCodeThatTrapsIsWalkedByFramePointers(depth: Int) throws {
      let program = try TestProgram("generated_traps.c", flags: ["-O1"])
      let run = try TracedRun([program.path.string, "\(depth)"])
      #expect(run.recorded.outputText == "back\n")
      let trace = try run.root()
      #expect(trace.coverage.stacksLibunwind == 0)
      #expect(trace.coverage.stacksRootless == 0)
      let lives = try #require(try MarkedEvents(trace).lives[49_001])
      let names = FrameNames(trace)
      let callers = ["enter", "main", ".", ".", "_start"]
      for stack in lives.flatMap({ [$0.allocation.stack, $0.deallocation?.stack ?? .none] }) {
        let found = names.names(of: stack)
        #expect(found.first == "on_trap")
        #expect(Array(found.suffix(callers.count)) == callers)
        let isWhole = depth <= 100
        #expect(trace.stacks.isCut(stack) != isWhole)
        #expect(found.count == (isWhole ? 2 + depth + callers.count : 129))
        #expect(trace.stacks.frames(of: stack)[2].isExact)
      }
      #expect(lives.count == 5)
    }

    @Test func aHandlerMayAllocateWhereTheStackHasRunOver() throws {
      let program = try TestProgram("handler_stacks.c", flags: ["-O1", "-no-pie", "-pthread"])
      let run = try TracedRun([program.path.string, "overflow"])
      #expect(
        try MarkedEvents(try run.root())[47_004]
          == .init(allocated: Self.rounds, freed: Self.rounds))
    }
  }
#endif
