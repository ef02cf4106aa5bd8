import CInterpose
import CTraceFormat
import Testing
import TraceReader
import TraceTestSupport

/// What the recorder writes, the reader reads: random events of many kinds come back as they were.
@Suite struct PredictedEventTests {
  @Test(arguments: RandomProgram.Allocator.allCases, [1, 2, 3] as [UInt64])
  func randomEventsComeBack(_ allocator: RandomProgram.Allocator, seed: UInt64) throws {
    var program = RandomProgram(allocator: allocator, seed: seed)
    let encoder = ChunkEncoder(baseTime: 5000)
    var expected: [Event] = []
    for _ in 0..<6000 {
      let event = program.next()
      encoder.append(event, isExact: true)
      expected.append(event)
    }
    #expect(try encoder.events() == expected)
  }

  @Test func everyOperationSurvivesPredictedAndNot() throws {
    let encoder = ChunkEncoder(baseTime: 5000)
    var expected: [Event] = []
    var time: UInt64 = 5000
    for round in UInt64(0)..<3 {
      for code in UInt8(1)..<52 {
        let operation = Operation(rawValue: code)
        guard operation.kind != .unknown, operation != .reallocEnd, operation != .reallocFail
        else { continue }
        time += 10
        let event = RandomProgram.event(
          operation, time: time, address: 0x1000 + UInt64(code) * 64 + round * 0x10000,
          size: 100 + UInt64(code), alignment: 32, stack: UInt32(code) + 2)
        encoder.append(event, isExact: true)
        expected.append(event)
      }
    }
    #expect(try encoder.events() == expected)
  }

  @Test func allOutcomesOfReallocSurvive() throws {
    let encoder = ChunkEncoder(baseTime: 5000)
    var expected: [Event] = []
    for round in UInt64(0)..<20 {
      let begin = RandomProgram.event(
        .reallocBegin, time: 6000 + round * 10, address: 0x4000 + round % 3 * 0x100, stack: 9)
      let isKept = round % 2 == 0
      let end = RandomProgram.event(
        round % 5 == 4 ? .reallocFail : round % 5 == 3 ? .reallocLeft : .reallocEnd,
        time: 6005 + round * 10,
        address: isKept ? begin.address.rawValue : 0x8000 + round * 0x100, size: 50 + round % 4)
      for event in [begin, end] {
        encoder.append(event, isExact: true)
        expected.append(event)
      }
    }
    #expect(try encoder.events() == expected)
  }

  @Test func timesThatNobodyNeedsAreThoseOfTheEventBefore() throws {
    let encoder = ChunkEncoder(baseTime: 5000)
    let times: [UInt64] = [5000, 5100, 9095, 9096, 9100, 13191, 13192, 1_000_000, 999_000]
    for time in times {
      encoder.append(
        RandomProgram.event(.malloc, time: time, address: time * 16, size: 8), isExact: false)
    }
    let seen = try encoder.events().map(\.time.rawValue)
    #expect(seen == [5000, 5000, 5000, 9096, 9096, 9096, 13192, 1_000_000, 1_000_000])
  }

  @Test func anEventExpectedInEveryWayIsOneByte() throws {
    let encoder = ChunkEncoder(baseTime: 5000)
    for round in UInt64(0)..<100 {
      let address: UInt64 = 0x1000
      for (operation, stack) in [(Operation.malloc, UInt32(7)), (.free, 8)] {
        encoder.append(
          RandomProgram.event(
            operation, time: 5000 + round, address: address,
            size: operation == .malloc ? 100 : 0, stack: stack), isExact: false)
      }
      if round == 3 { encoder.mark() }
    }
    #expect(encoder.bytesSinceMark == 2 * 96)
  }

  @Test func anAbandonedEventTeachesNothing() throws {
    let encoder = ChunkEncoder(baseTime: 5000)
    let first = RandomProgram.event(.malloc, time: 5001, address: 0x1000, size: 100, stack: 7)
    encoder.append(first, isExact: true)
    encoder.abandon { writer in
      // As far as a longjmp may let it come: the tables have learnt, the tag is not written.
      var event = mt_event_begin(writer, mt_stamp(time: 6000, is_exact: true))
      let site = mt_put_site(&writer.pointee.encoder, &event, 99)
      mt_put_operation(&event, site, UInt8(MT_OP_FREE.rawValue), 0, 0)
      mt_put_freed(&writer.pointee.encoder, &event, site, 0x7777)
    }
    // After it, times are those of the clock.
    let later = encoder.time + 10
    let second = RandomProgram.event(.malloc, time: later, address: 0x2000, size: 100, stack: 7)
    encoder.append(second, isExact: true)
    #expect(try encoder.events() == [first, second])
  }

  @Test func theRestOfAChunkGoesToAnotherThread() throws {
    let encoder = ChunkEncoder(baseTime: 5000)
    let first = RandomProgram.event(.malloc, time: 5001, address: 0x1000, size: 100, stack: 7)
    var second = RandomProgram.event(.free, time: 5003, address: 0x1000, stack: 8)
    second.thread = ThreadIndex(2)
    encoder.append(first, isExact: true)
    encoder.handOn(to: 2, time: 5002)
    encoder.append(second, isExact: true)
    #expect(try encoder.events() == [first, second])
  }

  @Test func theLongestEventFitsIntoTheReservedLength() throws {
    let encoder = ChunkEncoder(baseTime: 0)
    encoder.mark()
    encoder.append(
      RandomProgram.event(
        Operation(rawValue: UInt8(MT_OP_MEMALIGN.rawValue)), time: .max, address: 1 << 55,
        size: .max, alignment: 1 << 63,
        stack: 0x7fff_ffff), isExact: true)
    #expect(encoder.bytesSinceMark <= Int(MT_EVENT_MAX_LENGTH))
  }
}
