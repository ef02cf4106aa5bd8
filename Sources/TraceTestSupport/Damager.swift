import CTraceFormat

/// Damages the bytes of a trace in one of the ways that files get damaged, or that an attacker
/// would choose.
public struct Damager {
  private var random: SeededGenerator

  /// Makes one that does the same whenever the seed is.
  public init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  /// A copy of a trace with some damage.
  public mutating func damaged(_ original: [UInt8]) -> [UInt8] {
    var bytes = original
    for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
      switch Int.random(in: 0..<9, using: &random) {
      case 0: flipBits(&bytes)
      case 1: overwrite(&bytes, with: { UInt8(truncatingIfNeeded: $0.next()) })
      case 2: overwrite(&bytes, with: { _ in 0xff })
      case 3: overwrite(&bytes, with: { _ in 0 })
      case 4: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      case 5: copyStretch(&bytes)
      case 6: remove(&bytes)
      case 7: changeChunkHeader(&bytes)
      default: changeContent(&bytes)
      }
    }
    // Half of the time the headers check out again, so that the damage gets further.
    if Bool.random(using: &random) { repair(&bytes) }
    return bytes
  }

  private mutating func position(_ bytes: [UInt8]) -> Int {
    Int.random(in: 0..<bytes.count, using: &random)
  }

  /// Most of a short chunk is padding: this hits what is before it.
  private mutating func contentPosition(_ bytes: [UInt8]) -> Int {
    let chunk = Int.random(in: 0..<(bytes.count + 4095) / 4096, using: &random) * 4096
    return min(bytes.count - 1, chunk + Int.random(in: 0..<700, using: &random))
  }

  private mutating func flipBits(_ bytes: inout [UInt8]) {
    for _ in 0..<Int.random(in: 1...20, using: &random) {
      let position = Bool.random(using: &random) ? position(bytes) : contentPosition(bytes)
      bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    }
  }

  private mutating func overwrite(
    _ bytes: inout [UInt8], with byte: (inout SeededGenerator) -> UInt8
  ) {
    let start = contentPosition(bytes)
    let length = Int.random(in: 1...(Bool.random(using: &random) ? 16 : 5000), using: &random)
    for position in start..<min(bytes.count, start + length) { bytes[position] = byte(&random) }
  }

  private mutating func copyStretch(_ bytes: inout [UInt8]) {
    let (from, to) = (contentPosition(bytes), contentPosition(bytes))
    let length = min(Int.random(in: 1...4096, using: &random), bytes.count - max(from, to))
    bytes.replaceSubrange(to..<to + length, with: Array(bytes[from..<from + length]))
  }

  private mutating func remove(_ bytes: inout [UInt8]) {
    let start = position(bytes)
    let length = Bool.random(using: &random) ? 4096 : Int.random(in: 1...64, using: &random)
    bytes.removeSubrange(start..<min(bytes.count, start + length))
  }

  /// Puts an extreme number into a field of a chunk header.
  private mutating func changeChunkHeader(_ bytes: inout [UInt8]) {
    let chunk = Int.random(in: 0..<(bytes.count + 4095) / 4096, using: &random) * 4096
    let field = chunk + [8, 10, 12, 24, 32, 40, 44][Int.random(in: 0..<7, using: &random)]
    put(extreme(), at: field, in: &bytes, length: Int.random(in: 1...8, using: &random))
  }

  /// Puts an extreme number, as it is or as a varint, among the content of a chunk.
  private mutating func changeContent(_ bytes: inout [UInt8]) {
    let position = contentPosition(bytes)
    if Bool.random(using: &random) {
      put(extreme(), at: position, in: &bytes, length: 8)
    } else {
      var writer = ByteWriter()
      writer.writeVarInt(extreme())
      for (offset, byte) in writer.bytes.enumerated() where position + offset < bytes.count {
        bytes[position + offset] = byte
      }
    }
  }

  private mutating func extreme() -> UInt64 {
    let values: [UInt64] = [0, 1, .max, .max - 1, 1 << 63, 1 << 32, (1 << 32) - 1, 1 << 31, 4096]
    return values.randomElement(using: &random) ?? 0
  }

  private func put(_ value: UInt64, at position: Int, in bytes: inout [UInt8], length: Int) {
    for offset in 0..<length where position + offset < bytes.count {
      bytes[position + offset] = UInt8(truncatingIfNeeded: value >> UInt64(offset * 8))
    }
  }

  /// Makes the header of whatever still looks like a chunk check out.
  private func repair(_ bytes: inout [UInt8]) {
    guard bytes.count > 4096 else { return }
    for start in stride(from: 4096, to: bytes.count - 64, by: 4096) {
      var header = bytes.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: start, as: mt_chunk_header.self)
      }
      guard header.magic == MT_CHUNK_MAGIC else { continue }
      header.offset = UInt64(start)
      header.length = max(4096, header.length & ~4095)
      header.header_check = mt_chunk_check(&header)
      withUnsafeBytes(of: header) { bytes.replaceSubrange(start..<start + 64, with: $0) }
    }
  }
}
