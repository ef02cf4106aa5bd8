import Testing
import TraceReader
import TraceTestSupport

@Suite struct MismatchTests {
  private func errors(
    _ allocation: Operation, _ deallocation: Operation, size: UInt64 = 100, alignment: UInt64 = 64
  ) throws -> [MemoryError.Kind] {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100, alignment: 64, allocation)
    trace.free(0x1000, size: size, alignment: alignment, deallocation)
    return try trace.replay().errors.map(\.kind)
  }

  @Test(arguments: blockOperations.filter { $0.kind == .allocation })
  func familiesMustMatch(_ allocation: Operation) throws {
    for deallocation in blockOperations where deallocation.kind == .deallocation {
      // An aligned form of free for a block without alignment is another error.
      guard deallocation.hasAlignment == allocation.hasAlignment else { continue }
      let expected: [MemoryError.Kind] =
        allocation.family == deallocation.family ? [] : [.mismatched]
      #expect(try errors(allocation, deallocation) == expected)
    }
  }

  @Test func newNeedsDelete() throws {
    #expect(try errors(Operation(rawValue: 10), .free) == [.mismatched])
    #expect(try errors(Operation(rawValue: 14), Operation(rawValue: 29)) == [.mismatched])
    #expect(try errors(Operation(rawValue: 12), Operation(rawValue: 29)) == [.mismatched])
  }

  @Test func nothrowFormsAreOfTheSameFamily() throws {
    #expect(try errors(Operation(rawValue: 11), Operation(rawValue: 29)).isEmpty)
  }

  @Test func sizedDeleteMustSayTheRequestedSize() throws {
    #expect(try errors(Operation(rawValue: 10), Operation(rawValue: 31)).isEmpty)
    #expect(
      try errors(Operation(rawValue: 10), Operation(rawValue: 31), size: 99) == [.wrongSize(99)])
  }

  @Test func alignedDeleteMustSayTheRequestedAlignment() throws {
    #expect(try errors(Operation(rawValue: 12), Operation(rawValue: 32)).isEmpty)
    #expect(
      try errors(Operation(rawValue: 12), Operation(rawValue: 32), alignment: 32)
        == [.wrongAlignment(32)])
  }

  @Test func reallocOfANewBlockIsAMismatch() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100, Operation(rawValue: 10))
    trace.reallocate(0x1000, to: 0x2000, 200)
    let result = try trace.replay()
    #expect(result.errors.map(\.kind) == [.mismatched])
    #expect(result.total.liveBytes == 200)
  }

  @Test func mismatchedBlockIsFreedAllTheSame() throws {
    var trace = TraceBuilder()
    trace.allocate(0x1000, 100, Operation(rawValue: 10))
    trace.free(0x1000)
    #expect(try trace.replay().total.liveCount == 0)
  }
}
