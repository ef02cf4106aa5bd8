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
}
