import CInterpose
import CTraceFormat
import Testing

/// The encoding, against literal bytes.
@Suite struct EventWriterTests {
  /// The bytes written by `body` into a fresh chunk with this base time.
  private func encode(
    baseTime: UInt64 = 0, _ body: (UnsafeMutablePointer<mt_event_writer>) -> Void
  ) -> [UInt8] {
    withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { buffer in
      buffer.initializeMemory(as: UInt8.self, repeating: 0)
      var writer = mt_event_writer()
      writer.cursor = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
      writer.limit = writer.cursor + 512
      writer.time = baseTime
      let start = writer.cursor
      body(&writer)
      let count = start.map { writer.cursor - $0 } ?? 0
      return Array(buffer.prefix(count))
    }
  }

  @Test func theExampleOfTheFormatDocument() {
    // docs/trace-format.md, section 6
    let bytes = encode(baseTime: 1000) { writer in
      var event = mt_event_begin(writer, UInt8(MT_OP_MALLOC.rawValue), 1003)
      mt_event_address(&event, writer, 0x5580)
      mt_event_stack(&event, writer, 7)
      mt_event_number(&event, 12)
      mt_event_finish(&event, writer)
    }
    #expect(bytes == [0x01, 0x03, 0xb0, 0x15, 0x0e, 0x0c])
  }

  @Test func anAddressThatIsNotAMultipleOf16IsFine() {
    let bytes = encode { writer in
      var event = mt_event_begin(writer, UInt8(MT_OP_FREE.rawValue), 0)
      mt_event_address(&event, writer, 8)
      mt_event_stack(&event, writer, 2)
      mt_event_finish(&event, writer)
    }
    #expect(bytes == [24 | 0x40, 0, 16, 4])
  }

  @Test func runningValuesGoBackwardsToo() {
    let bytes = encode { writer in
      for (address, stack) in [(0x100, 9), (0x80, 3)] as [(UInt64, UInt32)] {
        var event = mt_event_begin(writer, UInt8(MT_OP_FREE.rawValue), 5)
        mt_event_address(&event, writer, address)
        mt_event_stack(&event, writer, stack)
        mt_event_finish(&event, writer)
      }
    }
    // -0x80 / 16 = -8, zigzag 15; 3 - 9 = -6, zigzag 11
    #expect(bytes == [24, 5, 32, 18, 24, 0, 15, 11])
  }

  @Test func aStepBackInTimeBecomesNone() {
    let bytes = encode(baseTime: 100) { writer in
      var event = mt_event_begin(writer, UInt8(MT_OP_REALLOC_FAIL.rawValue), 90)
      mt_event_number(&event, 1)
      mt_event_finish(&event, writer)
    }
    #expect(bytes == [50, 0, 1])
  }

  @Test(
    arguments: [
      (0, [0x00]), (127, [0x7f]), (128, [0x80, 0x01]),
      (0xffff_ffff, [0xff, 0xff, 0xff, 0xff, 0x0f]),
      (.max, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
    ] as [(UInt64, [UInt8])])
  func varints(_ value: UInt64, _ expected: [UInt8]) {
    var bytes = [UInt8](repeating: 0, count: 10)
    let count = bytes.withUnsafeMutableBufferPointer { buffer in
      mt_put_varint(buffer.baseAddress, value) - (buffer.baseAddress ?? mt_put_varint(nil, 0))
    }
    #expect(Array(bytes.prefix(count)) == expected)
  }

  @Test func theLongestEventFitsIntoTheReservedLength() {
    let bytes = encode { writer in
      var event = mt_event_begin(writer, UInt8(MT_OP_MEMALIGN.rawValue), .max)
      mt_event_address(&event, writer, 1 << 63)
      mt_event_stack(&event, writer, .max)
      mt_event_number(&event, .max)
      mt_event_number(&event, .max)
      mt_event_finish(&event, writer)
    }
    #expect(bytes.count <= Int(MT_EVENT_MAX_LENGTH))
  }

  @Test func abandonedBytesAreCleared() {
    _ = encode { writer in
      var event = mt_event_begin(writer, UInt8(MT_OP_MALLOC.rawValue), 1 << 40)
      mt_event_number(&event, .max)
      mt_event_writer_repair(writer)
      let rest = UnsafeBufferPointer(start: writer.pointee.cursor, count: 64)
      #expect(rest.allSatisfy { $0 == 0 })
    }
  }
}
