import CInterpose
import Testing

/// What the chunks of a snapshot hold.
@Suite struct SnapshotWriterTests {
  /// A page of the stack that the recorder runs on changes while its words are written.
  @Test func aWordThatIsNoneAnyMoreIsNotCounted() {
    var writer = mt_snapshot_writer()
    #expect(mt_snapshot_writer_begin(&writer, 1, 1) == 0)
    defer {
      writer.error = -1  // there is no trace
      mt_snapshot_writer_end(&writer)
    }
    var page = [UInt64](repeating: 0, count: 512)
    page[3] = 0x5555_0000_1000
    page[5] = 0x5555_0000_2000
    var kept = [UInt64](repeating: 0, count: 8)
    kept[0] = 1 << 3 | 1 << 4 | 1 << 5  // 4 was something when it was chosen

    mt_snapshot_words(&writer, 0x7000_0000_0000, page, kept)

    #expect(writer.words == 2)
    #expect(writer.run_end == 0x7000_0000_0000 + 6 * 8)
    #expect(writer.run_value == page[5])
  }
}
