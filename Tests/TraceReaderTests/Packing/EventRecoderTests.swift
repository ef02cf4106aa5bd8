import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

/// Which events are kept to be encoded anew.
@Suite struct EventRecoderTests {
  private func found(of count: Int, limit: Int) throws -> (kept: Int?, count: Int) {
    var builder = TraceBuilder()
    for index in 0..<count { builder.allocate(0x1000 + UInt64(index) * 64, 40) }
    return try builder.open { trace in
      let chunk = try #require(trace.eventChunks.first)
      let (events, count, _) = EventRecoder().events(of: chunk, in: trace.file, limit: limit)
      return (events?.count, count)
    }
  }

  @Test func eventsUpToTheLimitAreKept() throws {
    let found = try found(of: 100, limit: 100)
    #expect(found.kept == 100 && found.count == 100)
  }

  @Test(arguments: [0, 99])
  func moreAreCountedAndNotKept(limit: Int) throws {
    let found = try found(of: 100, limit: limit)
    #expect(found.kept == nil && found.count == 100)
  }
}
