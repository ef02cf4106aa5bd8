import Testing
import TraceTestSupport

@testable import TraceReader

/// The seek table, byte for byte as zstd's seekable format has it.
@Suite struct SeekTableTests {
  private let bytes: [UInt8] = [
    0x5E, 0x2A, 0x4D, 0x18,  // a skippable frame
    25, 0, 0, 0,  // of 25 bytes
    0x10, 0, 0, 0, 0x00, 0x10, 0, 0,  // 16 bytes in the file, 4096 of the trace
    0x05, 1, 0, 0, 0x00, 0x00, 1, 0,  // 261 bytes, 65536
    2, 0, 0, 0,  // two frames
    0,  // no checksums
    0xB1, 0xEA, 0x92, 0x8F,
  ]

  private func table(_ bytes: [UInt8]) throws -> SeekTable? {
    let file = try TemporaryFile(bytes)
    return try SeekTable(endOf: DiskFile(path: file.path))
  }

  @Test func theTableIsWrittenAsSpecified() {
    var table = SeekTable()
    table.append(length: 16, size: 4096)
    table.append(length: 261, size: 65536)
    #expect(table.encoded == bytes)
    #expect(table.plainSize == 69632)
  }

  @Test func theTableIsReadFromTheEnd() throws {
    let content = [UInt8](repeating: 1, count: 277)
    let table = try #require(try table(content + bytes))
    #expect(table.frames.map(\.position) == [0, 16])
    #expect(table.frames.map(\.offset) == [0, 4096])
    #expect(table.frame(at: 4095) == 0)
    #expect(table.frame(at: 4096) == 1)
    #expect(table.frame(at: 69632) == nil)
  }

  @Test func entriesWithChecksumsAreRead() throws {
    var bytes = bytes
    bytes[4] = 33
    bytes.insert(contentsOf: [9, 9, 9, 9], at: 24)
    bytes.insert(contentsOf: [9, 9, 9, 9], at: 16)
    bytes[bytes.count - 5] = 0x80
    let table = try #require(try table([UInt8](repeating: 1, count: 277) + bytes))
    #expect(table.frames.map(\.offset) == [0, 4096])
  }

  @Test(arguments: [276, 278, 0])
  func aTableForAnotherFileIsNone(contentSize: Int) throws {
    #expect(try table([UInt8](repeating: 1, count: contentSize) + bytes) == nil)
  }

  @Test func anyDamagedByteOfTheTableIsNoticedOrHarmless() throws {
    let content = [UInt8](repeating: 1, count: 277)
    for position in bytes.indices {
      var damaged = bytes
      damaged[position] ^= 0x80
      let size = try table(content + damaged)?.plainSize ?? 0
      #expect(size <= 2 * 128 << 20)
    }
  }
}
