import Testing
import TraceReader
import TraceTestSupport

@Suite struct HistoryTests {
  @Test func anyAddressInsideABlockMatches() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.allocate(0x2000, 64)
    trace.free(0x2000)
    trace.free(0x1000)
    let history = try trace.open { try $0.history(of: Address(0x1020)) }
    #expect(history.map(\.event.operation) == [.malloc, .free])
    #expect(history.map(\.eventIndex) == [0, 3])
    #expect(history.allSatisfy { $0.offset == 0x20 && $0.block == Address(0x1000) })
    #expect(history.map(\.blockSize) == [64, 64])
  }

  @Test func laterBlocksAreFollowedToo() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.free(0x1000)
    trace.allocate(0x1000, 8)
    trace.free(0x1000)
    trace.allocate(0x0ff0, 256)
    let history = try trace.open { try $0.history(of: Address(0x1020)) }
    #expect(history.map(\.blockSize) == [64, 64, 256])
    #expect(history.last?.offset == 0x30)
  }

  @Test func secondFreeIsUnexpected() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.free(0x1000)
    trace.free(0x1000)
    let history = try trace.open { try $0.history(of: Address(0x1001)) }
    #expect(history.map(\.isUnexpected) == [false, false, true])
  }

  @Test func reallocIsFollowedByBothHalves() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    trace.reallocate(0x1000, to: 0x1000, 128)
    trace.free(0x1000)
    let history = try trace.open { try $0.history(of: Address(0x1000)) }
    #expect(history.map(\.event.operation) == [.malloc, .reallocBegin, .reallocEnd, .free])
    #expect(history.allSatisfy { !$0.isUnexpected })
  }

  @Test func reallocThatFailedIsOneEntryWithItsStack() throws {
    var trace = TraceBuilder()
    let stack = trace.stack([0x1000])
    trace.allocate(0x1000, 64)
    trace.add(.reallocBegin, address: 0x1000, stack: stack)
    trace.add(.reallocFail, size: 1 << 50)
    trace.free(0x1000)
    let history = try trace.open { try $0.history(of: Address(0x1000)) }
    #expect(history.map(\.event.operation) == [.malloc, .reallocFail, .free])
    #expect(history.map(\.eventIndex) == [0, 1, 3])
    #expect(history.allSatisfy { !$0.isUnexpected && $0.blockSize == 64 })
    #expect((history[1].event.stack, history[1].event.size) == (stack, 1 << 50))
  }

  @Test func addressOfNobodyHasNoHistory() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 64)
    #expect(try trace.open { try $0.history(of: Address(0x1040)) }.isEmpty)
  }

  @Test func freeOfAnUnknownAddressIsToldAtThatAddress() throws {
    var trace = TraceBuilder()
    trace.free(0x1000)
    let history = try trace.open { try $0.history(of: Address(0x1000)) }
    #expect(history.map(\.isUnexpected) == [true])
    #expect(history.first?.blockSize == nil)
  }
}
