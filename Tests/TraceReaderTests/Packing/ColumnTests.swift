import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

/// Events in columns come back bit for bit.
@Suite struct ColumnTests {
  private func decoded(_ events: [Event], baseTime: UInt64 = 0, thread: UInt32 = 1) -> [Event]? {
    let count = ColumnEncoder.count(of: events, thread: thread)
    var encoder = ColumnEncoder(baseTime: baseTime, thread: thread, count: count)
    for event in events { encoder.append(event) }
    return decode(encoder.content.bytes, baseTime: baseTime, thread: thread)
  }

  /// The events of a chunk's content; nil when it is damaged.
  private func decode(_ content: [UInt8], baseTime: UInt64 = 0, thread: UInt32 = 1) -> [Event]? {
    var events: [Event] = []
    let isWhole = ColumnDecoder.forEachEvent(of: content, baseTime: baseTime, thread: thread) {
      events.append($0)
      return true
    }
    return isWhole ? events : nil
  }

  /// An event with the fields that its operation has.
  private func event(_ raw: RawEvent, thread: UInt32 = 1, alignment: UInt64 = 0) -> Event {
    var batch = EventBatch(capacity: 1)
    defer { batch.deallocate() }
    batch.thread = thread
    batch.events.pointee = raw
    batch.events.pointee.alignment = AlignmentCode(alignment)
    if batch.events.pointee.alignment == .odd { batch.setOdd(alignment, of: batch.events) }
    return Event(batch, batch.events)
  }

  private static let operations =
    (UInt8(0)..<64).filter {
      $0 != UInt8(MT_OP_THREAD.rawValue)
        && UInt32(mt_operation_info($0).operation_class) != MT_CLASS_UNKNOWN.rawValue
    }

  /// Random events, from few blocks, sizes and stacks or from all there can be.
  private func random(seed: UInt64, count: Int, isWild: Bool) -> [Event] {
    var random = SeededGenerator(seed: seed)
    var time: UInt64 = 1 << 40
    return (0..<count).map { _ in
      var raw = RawEvent()
      raw.operation = Self.operations.randomElement(using: &random) ?? 1
      time &+= isWild ? random.next() >> 30 : .random(in: 0..<3, using: &random)
      raw.time = time
      let thread: UInt32 = .random(in: 0..<20, using: &random) == 0 ? 2 : 1
      raw.stack =
        isWild ? .random(in: 0 ... .max, using: &random) : .random(in: 0..<9, using: &random)
      raw.size = isWild ? random.next() >> 5 : .random(in: 0..<200, using: &random)
      raw.address = isWild ? random.next() >> 5 : .random(in: 0..<300, using: &random) * 8
      let isFailure = UInt32(raw.operation) == MT_OP_FAILED.rawValue
      raw.detail = isFailure ? UInt16(MT_OP_CALLOC.rawValue) : 0
      let isAligned = OperationTable().aligned >> UInt64(raw.operation) & 1 != 0
      return event(raw, thread: thread, alignment: isAligned ? (isWild ? random.next() : 64) : 0)
    }
  }

  @Test(arguments: [false, true])
  func randomEventsComeBack(isWild: Bool) throws {
    for seed in UInt64(0)..<40 {
      let events = random(seed: seed, count: Int(seed * 97 % 3000), isWild: isWild)
      let found = try #require(decoded(events, baseTime: 1 << 40), "seed \(seed)")
      #expect(found == events, "seed \(seed)")
    }
  }

  @Test func manyBlocksComeBack() throws {
    // More than any list of the model is long, freed in the order of their beginning and backwards.
    var events: [Event] = []
    for round in UInt64(0)..<4 {
      let blocks = (UInt64(0)..<2000).map { 0x10_0000 + $0 * 48 }
      for block in blocks {
        events.append(
          event(
            RawEvent(
              time: UInt64(events.count), address: block, size: 33 + round,
              stack: UInt32(block % 7), operation: 1)))
      }
      for block in round % 2 == 0 ? blocks : blocks.reversed() {
        events.append(
          event(
            RawEvent(
              time: UInt64(events.count), address: block, stack: 3,
              operation: UInt8(MT_OP_FREE.rawValue))))
      }
    }
    #expect(decoded(events) == events)
  }

  @Test func theColumnsOfAnExampleAreAsDocumented() {
    // malloc(12) = 0x5580 with stack 7 at time 3 after the base; the same again; free of the first.
    var encoder = ColumnEncoder(baseTime: 1000, thread: 1, count: 3)
    encoder.append(
      event(RawEvent(time: 1003, address: 0x5580, size: 12, stack: 7, operation: 1)))
    encoder.append(
      event(RawEvent(time: 1003, address: 0x55a0, size: 12, stack: 7, operation: 1)))
    encoder.append(
      event(
        RawEvent(
          time: 1010, address: 0x5580, stack: 9, operation: UInt8(MT_OP_FREE.rawValue))))
    let lengths: [UInt8] = [3, 3, 3, 3, 2, 2, 2, 1, 0, 0]
    let columns: [UInt8] = [
      0x01, 0x01, 0x18,  // malloc, malloc, free
      3, 0, 7,  // times
      2, 2, 2, 0x0e, 0x00, 0x04,  // stacks, none of them expected
      0x0d, 0x00,  // 12, the same
      0xfb, 0x00, 0xe0, 0x2a,  // 0x5580, behind it
      0x03,  // the block before the last
    ]
    #expect(
      encoder.content.bytes == [3, 0, 0, 0] + lengths.flatMap { [$0, 0, 0, 0] } + columns)
  }

  /// As in events of other encodings: only damage says so.
  @Test func noDeallocationFails() {
    let events = [MT_OP_MALLOC, MT_OP_FREE].map { function in
      event(
        RawEvent(
          time: 1000, size: 40, stack: 6, operation: UInt8(MT_OP_FAILED.rawValue),
          detail: UInt16(function.rawValue)))
    }
    #expect(decoded([events[0]]) == [events[0]])
    #expect(decoded([events[1]]) == nil)
  }

  @Test func anyDamagedByteIsSurvived() {
    let events = random(seed: 7, count: 300, isWild: false)
    var encoder = ColumnEncoder(baseTime: 0, thread: 1, count: events.count * 2)
    for event in events { encoder.append(event) }
    let content = encoder.content.bytes
    for position in content.indices {
      for mask in [0x01, 0x80, 0xff] as [UInt8] {
        var damaged = content
        damaged[position] ^= mask
        if let found = decode(damaged) { #expect(found.count <= content.count) }
      }
    }
    for length in content.indices {
      #expect(decode(Array(content.prefix(length))) == nil)
    }
  }
}
