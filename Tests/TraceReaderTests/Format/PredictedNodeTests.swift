import CTraceFormat
import Testing
import TraceReader
import TraceTestSupport

/// Stack nodes that say only what is not expected, from literal bytes.
@Suite struct PredictedNodeTests {
  /// Of the node with the ID 2, a return to 0x1000 without a caller.
  private static let root: [UInt8] = [0x1d, 0x80, 0x40]

  private func open<Value>(
    _ bytes: [UInt8], firstID: UInt32 = 2, _ body: (Trace) throws -> Value
  ) throws -> Value {
    var trace = TraceBuilder()
    trace.appendNodeChunk(bytes, firstID: firstID)
    let file = try trace.write()
    return try withExtendedLifetime(file) { try body(Trace(path: file.path)) }
  }

  private func addresses(_ trace: Trace, _ stack: UInt32) -> [UInt64] {
    trace.stacks.frames(of: StackID(stack)).map(\.returnAddress.rawValue)
  }

  @Test func everyFormOfParentAndAddress() throws {
    let recent = mt_recent_pc_index(0x1010)
    let bytes: [UInt8] =
      Self.root
      + [0x19, 0x20]  // 3: called from the node before, 0x10 further
      + [0x03, 0x02]  // 4: from the one two before, where the last call from there went
      + [0x39, 0x9f, 0x3f, 0x02]  // 5: a gap of 64, from the node before
      // 6: caller not known, a recent address
      + [0x17, 0x10 | UInt8(recent >> 8), UInt8(recent & 0xff)]
    try open(bytes) { trace in
      #expect(addresses(trace, 2) == [0x1000])
      #expect(addresses(trace, 3) == [0x1010, 0x1000])
      #expect(addresses(trace, 4) == [0x1010, 0x1000])
      #expect(trace.stacks.frames(of: StackID(5)).map(\.omitted) == [64, nil, nil])
      #expect(addresses(trace, 6) == [0x1010])
      #expect(trace.stacks.lacksRoot(StackID(6)))
      #expect(trace.stacks.count == 5)
      #expect(trace.coverage.damage.isEmpty)
    }
  }

  @Test func whatWasCalledFromAnAddressBefore() throws {
    let bytes: [UInt8] =
      Self.root
      + [0x19, 0x20]  // 3: 0x1010, from the node before
      + Self.root + [0x81]  // 4, 5: one node as last time
      + [0x19, 0x20]  // 6: 0x1020, from 0x1010
      + Self.root + [0x82]  // 7 to 9: two nodes as last time
      + [0x1b, 0x03, 0x40]  // 10: 0x1020, from 7
      + [0x0b, 0x04]  // 11: from 7, what was called before that
      + [0x1b, 0x05, 0x60]  // 12: 0x1030, from 7
      + [0x13, 0x06, 0x00]  // 13: from 7, the third last
    try open(bytes) { trace in
      #expect(addresses(trace, 5) == [0x1010, 0x1000])
      #expect(addresses(trace, 6) == [0x1020, 0x1010, 0x1000])
      #expect(addresses(trace, 8) == [0x1010, 0x1000])
      #expect(addresses(trace, 9) == [0x1020, 0x1010, 0x1000])
      #expect(addresses(trace, 11) == [0x1010, 0x1000])
      #expect(addresses(trace, 13) == [0x1020, 0x1000])
      #expect(trace.stacks.count == 12)
      #expect(trace.coverage.damage.isEmpty)
    }
  }

  @Test func aByteThatNamesNoAddressEndsTheChunk() throws {
    try open(Self.root + [0x11, 0x02] + Self.root) { trace in
      #expect(trace.stacks.count == 1)
      #expect(trace.coverage.damage.map(\.offset) == [4096 + 64 + 3])
    }
  }

  @Test func aCallerOfAnotherChunkIsTakenForZero() throws {
    var trace = TraceBuilder()
    trace.appendNodeChunk(Self.root, firstID: 2)
    trace.appendNodeChunk([0x1b, 0x01, 0x20], firstID: 3)  // from the one before it; 0x10 from 0
    let file = try trace.write()
    let opened = try Trace(path: file.path)
    #expect(addresses(opened, 3) == [0x10, 0x1000])
  }

  @Test(arguments: [[0x40], [0x02], [0x80], [0x90]] as [[UInt8]])
  func bytesThatAreNoNodeEndTheChunk(_ wrong: [UInt8]) throws {
    try open(Self.root + wrong + Self.root) { trace in
      #expect(trace.stacks.count == 1)
      #expect(trace.coverage.damage.map(\.reason) == ["bytes that are no stack node"])
      #expect(trace.coverage.damage.map(\.offset) == [4096 + 64 + 3])
    }
  }

  @Test func aNodeThatRunsPastTheEndIsNotThere() throws {
    let room = Int(MT_CHUNK_ALIGNMENT) - Int(MT_CHUNK_HEADER_SIZE)
    let whole = (room - 1) / 3
    let nodes = Array(repeating: Self.root, count: whole).flatMap { $0 }
    try open(nodes + [0x1d] + Array(repeating: 0x80, count: room - 3 * whole - 1)) { trace in
      #expect(trace.stacks.count == whole)
      #expect(trace.coverage.damage.isEmpty)
    }
  }

  @Test(arguments: [MT_STACK_LAST + 1, 0xffff_0000, .max, 1] as [UInt32])
  func aChunkOfIDsOutOfRangeIsRefused(firstID: UInt32) throws {
    try open(Self.root, firstID: firstID) { trace in
      #expect(trace.stacks.count == 0)
      #expect(trace.stacks.endID == .first)
      #expect(trace.coverage.damage.map(\.offset) == [4096 + 64])
    }
  }

  @Test func theLastIDEndsTheChunk() throws {
    try open(Self.root + Self.root, firstID: MT_STACK_LAST) { trace in
      #expect(addresses(trace, MT_STACK_LAST) == [0x1000])
      #expect(trace.stacks.count == 1)
      #expect(trace.stacks.endID == StackID(MT_STACK_LAST + 1))
      #expect(trace.coverage.damage.map(\.offset) == [4096 + 64 + 3])
    }
  }

  @Test func allFramesAreVisitedHoweverFarApartTheirIDsAre() throws {
    var trace = TraceBuilder()
    trace.appendNodeChunk(Self.root, firstID: MT_STACK_LAST)
    trace.appendNodeChunk(Self.root + [0x19, 0x20], firstID: 7)
    let file = try trace.write()
    let stacks = try Trace(path: file.path).stacks
    var nodes: [UInt32] = []
    let isWhole = stacks.forEachFrame { frame in
      nodes.append(frame.node.rawValue)
      return true
    }
    #expect(isWhole)
    #expect(nodes == [7, 8, MT_STACK_LAST])
    #expect(!stacks.forEachFrame { _ in false })
  }

  @Test func aDistanceBeyondTheFirstNodeLeadsNowhere() throws {
    try open(Self.root + [0x1b, 0x7f, 0x20]) { trace in
      #expect(addresses(trace, 3) == [0x10])
    }
  }
}
