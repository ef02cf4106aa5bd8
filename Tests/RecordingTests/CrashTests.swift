import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Programs that crash: where, and over what.
@Suite struct CrashTests {
  private static func run(_ way: String, options: [String]) throws -> TracedRun {
    try TracedRun(
      [try TestProgram("crashes.c").path.string, way], start: .launcher(options),
      comparesErrors: false)
  }

  private static func functions(_ trace: Trace) throws -> [String] {
    try FrameNames(trace).names(of: #require(trace.crash).stack)
  }

  @Test(
    arguments: [
      ("read", Int32(11), MemoryAccess.Kind.read, UInt64?(0x8), ["read_member", "main"]),
      ("write", 11, .write, 0, ["write_name", "main"]),
      ("constant", 11, .write, nil, ["write_name", "main"]),
      ("call", 11, .execute, 0, ["call_it", "main"]),
      ("wild", 11, .unknown, 0, ["read_member", "main"]),
      ("wild-call", 11, .unknown, 0, ["call_it", "main"]),
      ("unmapped", 11, .write, nil, ["write_name", "main"]),
      ("divide", 8, .unknown, nil, ["divide", "main"]),
      ("trap", 4, .unknown, nil, ["main"]),
      ("thread", 11, .read, 0x8, ["read_member", "in_thread"]),
    ])
  func whereItCrashedIsKnown(
    way: String, signal: Int32, access: MemoryAccess.Kind, address: UInt64?, functions: [String]
  ) throws {
    let trace = try Self.run(way, options: ["--snapshot-on-crash"]).root()
    let crash = try #require(trace.crash)
    #expect(crash.signal == signal)
    #expect(crash.access == access)
    if let address { #expect(crash.address == address) }
    #expect(try Self.functions(trace).starts(with: functions))
    #expect(trace.ending == .signal(signal))
    #expect(trace.snapshots.count == 1)
  }

  /// The kernel has no room for a handler there.
  @Test(arguments: ["recursion", "recursion-by-pages", "recursion-in-thread"])
  func whereTheStackEndedIsKnown(way: String) throws {
    let trace = try Self.run(way, options: ["--snapshot-on-crash"]).root()
    let crash = try #require(trace.crash)
    #expect(crash.isStackOverflow)
    let functions = try Self.functions(trace)
    let plunge = way == "recursion-by-pages" ? "plunge_by_pages" : "plunge"
    #expect(functions.prefix(100).allSatisfy { $0 == plunge })
    #expect(functions.contains(way == "recursion-in-thread" ? "plunge_in_thread" : "main"))
    #expect(trace.snapshots.map(\.isComplete) == [true])
  }

  @Test(arguments: [["--snapshot-on-crash"], ["--redzones"], ["--zombies"]])
  func theEndOfTheStackInTheAllocatorIsKnown(options: [String]) throws {
    let trace = try Self.run("recursion-with-blocks", options: options).root()
    #expect(trace.crash?.isStackOverflow == true)
    let functions = try Self.functions(trace)
    #expect(functions.filter { $0 == "plunge_with_blocks" }.count > 100)
    #expect(functions.contains("main"))
  }

  @Test(arguments: [[], ["--zombies"], ["--snapshot-on-crash"]])
  func signalStacksAreAsWithoutTheRecorder(options: [String]) throws {
    let program = try TestProgram("fault_stacks.c", flags: ["-pthread"])
    let run = try TracedRun([program.path.string], start: .launcher(options))
    #expect(run.plain.outputText.contains("at first: 0, no stack, flags 2, 0 bytes\n"))
    #expect(run.plain.outputText.contains("signal 12 on the signal stack, flags 1\n"))
  }

  /// The runtime of Go takes what it finds for its own, and ends the process when a signal comes elsewhere.
  @Test(arguments: ["--zombies", "--redzones", "--guard", "--snapshot-on-crash"])
  func signalStacksThatAProgramHasSeenStay(option: String) throws {
    let program = try TestProgram("kernels_signal_stacks.c", flags: ["-pthread"])
    let run = try TracedRun([program.path.string], start: .launcher([option]))
    #expect(
      run.plain.outputText == """
        signal 10 on the signal stack
        signal 12 on the signal stack
        signal 10 on the signal stack

        """)
  }

  /// Large blocks have mappings of their own.
  @Test func anAccessBesideALargeBlockIsAnError() throws {
    let cases: [(String, MemoryError.Kind, [String])] = [
      ("beyond", .outOfBounds(MemoryAccess(kind: .write, offset: 1_003_504, signal: 11)), ["fill"]),
      (
        "freed", .accessAfterFree(MemoryAccess(kind: .write, offset: 500_000, signal: 11)),
        ["write_name"]
      ),
    ]
    for (way, kind, functions) in cases {
      let trace = try Self.run(way, options: ["--snapshot-on-crash"]).root()
      var result = try trace.replay()
      trace.addNoticedErrors(to: &result)
      #expect(result.errors.map(\.kind) == [kind])
      let error = try #require(result.errors.first)
      #expect(error.block?.size == 1_000_000)
      let names = FrameNames(trace)
      #expect(names.names(of: error.offending.stack).starts(with: functions))
      #expect(
        error.firstFree.map { names.names(of: $0.stack).first } == (way == "freed" ? "drop" : nil))
    }
  }

  /// The stack goes on through the hook that the allocator was called by.
  @Test func whereItCrashedInTheAllocatorIsKnown() throws {
    let trace = try Self.run("heap", options: ["--snapshot-on-crash"]).root()
    #expect(trace.crash?.signal == 11)
    let functions = try Self.functions(trace)
    #expect(functions.filter { $0 != "." }.prefix(2) == ["break_heap", "main"])
    #expect(functions.first == ".")
  }

  @Test(arguments: [[], ["--zombies"], ["--snapshot-on-crash"]])
  func whoAbortsIsKnown(options: [String]) throws {
    let trace = try Self.run("abort", options: options).root()
    #expect(trace.crash?.signal == 6)
    #expect(trace.ending == .abort)
    #expect(try Self.functions(trace).starts(with: ["give_up", "main"]))
  }

  @Test func withoutAHandlerNothingIsKnown() throws {
    #expect(try Self.run("read", options: []).root().crash == nil)
  }

  /// As CPython and Rust do, which install handlers only where there is none.
  @Test func theProgramSeesNoHandlerOfTheRecorders() throws {
    let run = try TracedRun(
      [try TestProgram("ending_signals.c").path.string, "interrupt"],
      start: .launcher(["--snapshot-on-crash"]))
    #expect(run.recorded.outputText.hasSuffix("\n31: 1 0 1 1 1 1 1 1\nhandled\n"))
  }

  /// The program's handler comes first, and leaves the crash to the default.
  @Test(arguments: ["reset", "reset-by-signal", "restore", "crash"])
  func whatAHandlerLeavesToTheDefaultIsRecorded(way: String) throws {
    let trace = try TracedRun(
      [try TestProgram("ending_signals.c").path.string, way],
      start: .launcher(["--snapshot-on-crash"])
    ).root()
    #expect(trace.snapshots.map(\.reason) == [.signal(11)])
    #expect(trace.crash?.address == 8)
    #expect(try Self.functions(trace).starts(with: ["main"]))
  }
}
