import Testing
import TraceReader
import TraceTestSupport

@Suite struct TemporaryTests {
  private func temporary(
    between: Int, distance: UInt32 = 1, freedBy thread: UInt32 = 1
  ) throws -> UInt64 {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10)
    for index in 0..<between { trace.allocate(0x2000 + UInt64(index) * 16, 10) }
    trace.allocate(0x9000, 10, thread: 5)
    trace.free(0x1000, thread: thread)
    var options = ReplayOptions()
    options.temporaryDistance = distance
    return try trace.replay(options).total.temporaryCount
  }

  @Test func freedAtOnceIsTemporary() throws { #expect(try temporary(between: 0) == 1) }

  @Test func oneAllocationInBetweenIsAllowed() throws {
    #expect(try temporary(between: 1) == 1)
  }

  @Test func twoAreTooMany() throws { #expect(try temporary(between: 2) == 0) }

  @Test func distanceIsAnOption() throws {
    #expect(try temporary(between: 2, distance: 2) == 1)
    #expect(try temporary(between: 1, distance: 0) == 0)
  }

  @Test func anotherThreadsFreeIsNotTemporary() throws {
    #expect(try temporary(between: 0, freedBy: 2) == 0)
  }

  @Test func failedReallocIsNotTemporary() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 10)
    trace.add(.reallocBegin, address: 0x1000)
    trace.add(.reallocFail, size: 10)
    #expect(try trace.replay().total.temporaryCount == 0)
  }
}
