import Testing
import TraceReader
import TraceTestSupport

/// Handlers that interrupt the recorder while it makes new stacks.
///
/// The program allocates through seven of its eight functions, each time through others; the four
/// outermost are the digits of the size.
@Suite struct InterruptedStackTests {
  private struct Checked {
    var right = 0
    var wrong = 0
  }

  private static let levels = 7
  private static let sizeLevels = 4

  /// Where the functions begin, which the program prints, with their common length.
  private func functions(_ run: TracedRun) throws -> (starts: [UInt64], length: UInt64) {
    let starts = run.recorded.outputText.split(separator: " ").prefix(8)
      .compactMap { UInt64($0.dropFirst(2), radix: 16) }
    try #require(starts.count == 8)
    let ordered = starts.sorted()
    let length = try #require(zip(ordered.dropFirst(), ordered).map { $0 - $1 }.min())
    return (starts, length)
  }

  /// Compares the stack of each block with its size.
  private func check(
    _ trace: Trace, _ functions: (starts: [UInt64], length: UInt64)
  ) throws -> Checked {
    func digit(_ frame: RawFrame) -> UInt64? {
      let address = frame.lookupAddress.rawValue
      return functions.starts.firstIndex { $0 <= address && address - $0 < functions.length }
        .map(UInt64.init)
    }
    var checked = Checked()
    try trace.forEachEvent { _, event in
      guard event.kind == .allocation, 1...4096 ~= event.size else { return true }
      let frames = trace.stacks.frames(of: event.stack)
      guard let leaf = frames.first, digit(leaf) != nil else { return true }
      let digits = frames.prefix(Self.levels).compactMap(digit)
      let called = digits.suffix(Self.sizeLevels).reduce(0) { $0 << 3 | $1 }
      // Outermost last, whose digit is the lowest.
      let expected = (0..<UInt64(Self.sizeLevels)).reversed()
        .map { (event.size - 1) >> (3 * $0) & 7 }.reduce(0) { $0 << 3 | $1 }
      if digits.count == Self.levels && called == expected {
        checked.right += 1
      } else {
        checked.wrong += 1
      }
      return true
    }
    return checked
  }

  private func run(_ way: String, _ count: Int) throws -> TracedRun {
    let allocator = try TestProgram("leavable_allocator.c", flags: ["-shared", "-fPIC"])
    let program = try TestProgram(
      "interrupted_stacks.c", flags: ["-O1", "-no-pie", "-pthread"])
    let run = try TracedRun(
      [program.path.string, way, "\(count)"],
      environment: ["LD_PRELOAD=\(allocator.path)"], timeout: 300)
    #expect(run.recorded.outputText.hasSuffix(" \(count)\n"))
    return run
  }

  @Test(arguments: ["jump", "jump-alternate"])
  func aHandlerMayLeaveANewStack(way: String) throws {
    let run = try run(way, 2000)
    let trace = try run.root()
    let checked = try check(trace, try functions(run))
    #expect(checked.right > 20_000)
    #expect(checked.wrong == 0)
    #expect(trace.coverage.stackTableFull == 0)
  }

  @Test func aHandlerMayForkInTheMiddleOfANewStack() throws {
    let run = try run("fork", 200)
    let traces = try run.allTraces()
    #expect(traces.count == 201)
    for trace in traces {
      let checked = try check(trace, try functions(run))
      #expect(checked.right >= 200)
      #expect(checked.wrong == 0)
      // The handler's own, where the child was made in the middle of a change, and that change.
      #expect(trace.coverage.stackTableFull <= 6)
    }
  }

  @Test func aHandlerMayWaitForAThreadInTheMiddleOfANewStack() throws {
    let run = try run("threads", 100)
    let traces = try run.allTraces()
    #expect(traces.count == 101)
    for trace in traces.dropFirst() {
      let checked = try check(trace, try functions(run))
      #expect(checked.right >= 200)
      #expect(checked.wrong == 0)
      // The thread's, while the first one waits for it in the middle of a change.
      #expect(trace.coverage.stackTableFull <= 50)
    }
  }
}
