import CInterpose
import Testing

/// The encoding, against literal bytes.
@Suite struct EventWriterTests {
  @Test func theExampleOfTheFormatDocument() {
    // docs/trace-format.md, section 7
    let encoder = ChunkEncoder(baseTime: 1000)
    let stamp = mt_stamp(time: 1003, is_exact: true)
    for _ in 0..<2 {
      mt_event_allocation(encoder.writer, stamp, UInt8(MT_OP_MALLOC.rawValue), 0x5580, 7, 12, 0)
      mt_event_deallocation(encoder.writer, stamp, UInt8(MT_OP_FREE.rawValue), 0x5580, 8, 0, 0)
    }
    #expect(
      encoder.bytes == [
        0x9f, 0x03, 0xe6, 0x01, 0x0c, 0xb0, 0x15,  // malloc, all of it written
        0x1f, 0x00, 0xe0, 0x18,  // free of the newest block, its site and operation written
        0x07, 0x00, 0xa7,  // malloc of the last block freed, its site among the recent ones
        0x06, 0x00,  // free as before, at the site that followed last time
      ])
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
}
