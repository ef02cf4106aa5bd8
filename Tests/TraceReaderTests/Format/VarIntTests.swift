import Testing
import TraceTestSupport

@testable import TraceReader

@Suite struct VarIntTests {
  private func read(_ bytes: [UInt8]) -> (value: UInt64, length: Int, isMalformed: Bool) {
    let padded = bytes + [UInt8](repeating: 0, count: 16)
    return padded.withUnsafeBytes { buffer in
      guard var position = buffer.baseAddress else { return (0, 0, true) }
      let start = position
      var isMalformed = false
      let value = VarInt.read(&position, &isMalformed)
      return (value, position - start, isMalformed)
    }
  }

  private static let values: [UInt64] = [
    0, 1, 127, 128, 255, 300, 16383, 16384, 2_097_151, 2_097_152, 0xffff_ffff, 1 << 35,
    1 << 42, (1 << 49) - 1, 1 << 49, (1 << 56) - 1, 1 << 56, 1 << 63, .max,
  ]

  @Test(arguments: values)
  func valueSurvives(_ value: UInt64) {
    var writer = ByteWriter()
    writer.writeVarInt(value)
    let result = read(writer.bytes)
    #expect(result.value == value)
    #expect(result.length == writer.bytes.count)
    #expect(!result.isMalformed)
  }

  @Test func everyBitSurvivesAtEveryLength() {
    for bit in 0..<64 {
      for value in [UInt64(1) << bit, (UInt64(1) << bit) &- 1, UInt64.max >> bit] {
        var writer = ByteWriter()
        writer.writeVarInt(value)
        #expect(read(writer.bytes).value == value)
      }
    }
  }

  @Test func literalBytes() {
    #expect(read([0x7f]).value == 127)
    #expect(read([0x80, 0x01]).value == 128)
    #expect(read([0xe5, 0x8e, 0x26]).value == 624_485)
    #expect(read([0x80, 0x00]).value == 0)
  }

  @Test func elevenBytesAreMalformed() {
    #expect(read(Array(repeating: 0x80, count: 10) + [1]).isMalformed)
  }

  private static let signedValues: [Int64] = [0, 1, -1, 63, -64, 64, .max, .min]

  @Test(arguments: signedValues)
  func zigzagSurvives(_ value: Int64) {
    var writer = ByteWriter()
    writer.writeZigzag(UInt64(bitPattern: value))
    #expect(Int64(bitPattern: VarInt.unzigzag(read(writer.bytes).value)) == value)
  }
}
