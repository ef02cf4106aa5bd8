import Testing
import TraceReader
import TraceTestSupport

@testable import LeakGate

/// Why a process ended that wrote no end, by what it did last.
@Suite struct LastErrorTests {
  /// What was wrong with the last call of a process that frees an address, and may go on.
  private func lastError(freeing address: UInt64, goesOn: Bool = false) throws -> MemoryError.Kind?
  {
    var builder = TraceBuilder()
    builder.header.endKind = 0
    let stack = builder.stack([0x40_1000])
    builder.allocate(0x1000, 16, stack: stack)
    builder.free(0x1000, stack: stack)
    builder.free(address, stack: stack)
    if goesOn { builder.allocate(0x3000, 16, stack: stack) }
    let file = try builder.write()
    let trace = try Trace(path: file.path)
    #expect(trace.ending == .unknown)
    return try LastError.find(in: trace, try trace.replay().errors)
  }

  @Test func theLastCallWasWrong() throws {
    #expect(try lastError(freeing: 0x1000) == .doubleFree)
    #expect(try lastError(freeing: 0x2000) == .freeOfUnknown)
  }

  @Test func aProcessThatWentOnWasNotEndedByIt() throws {
    #expect(try lastError(freeing: 0x1000, goesOn: true) == nil)
  }
}
