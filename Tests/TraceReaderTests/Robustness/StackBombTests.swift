import Testing
import TraceTestSupport

@testable import TraceReader

/// A byte can stand for fifteen stack nodes, and a compressed one for thousands of such bytes.
@Suite struct StackBombTests {
  /// A root, and then nodes of which each is called by the one before.
  private static func nodes(_ runs: Int) -> TraceBuilder {
    var trace = TraceBuilder()
    trace.appendNodeChunk(
      [0x1d, 0x80, 0x40, 0x19, 0x00] + [UInt8](repeating: 0x8f, count: runs), firstID: 2)
    trace.allocate(0x1000, 16, stack: StackID(3))
    return trace
  }

  @Test func nodesThatNoTraceOfTheSizeHasAreNotKept() throws {
    let runs = 800_000
    let packed = try Self.nodes(runs).packed()
    try withTrace(packed) { trace in
      #expect(trace.stacks.count < packed.count * 1024 + 15)
      #expect(trace.stacks.count < runs * 15)
      #expect(trace.coverage.damage.map(\.reason) == ["more stack nodes than are kept"])
      #expect(trace.stacks.frames(of: StackID(3)).count == 2)
      let events = try trace.replay().eventCount
      #expect(events == 1)
    }
  }

  @Test func nodesThatFitAreAllKept() throws {
    try withTrace(try Self.nodes(1000).packed()) { trace in
      #expect(trace.stacks.count == 15_002)
      #expect(trace.coverage.damage.isEmpty)
    }
  }

  @Test func decodingEndsWhereTheMemoryDoes() {
    var stacks = StackDecoder(memoryLimit: 24 + 100 * 8)
    let chunk =
      [UInt8](repeating: 0, count: 64) + [0x1d, 0x80, 0x40, 0x19, 0x00]
      + [UInt8](repeating: 0x8f, count: 100)
    #expect(chunk.withUnsafeBytes { stacks.decodePredicted($0, firstID: 2) } == 76)
    #expect(stacks.isFull)
    #expect(stacks.table().table.count == 107)
  }

  @Test func theLimitIsThatOfTheFileOrOfTheMemory() {
    #expect(ReaderMemory.stackLimit(storedSize: 1 << 20, available: .max) == 8 << 30)
    #expect(ReaderMemory.stackLimit(storedSize: 1, available: .max) == 1 << 20)
    #expect(ReaderMemory.stackLimit(storedSize: .max, available: 4 << 30) == 1 << 30)
  }
}
