import Foundation
import Testing

/// The unwind tables in a program's file, to be damaged.
struct UnwindTables {
  enum Damage: CaseIterable {
    /// The search table leads far behind the image.
    case entriesAway
    /// Entries name a beginning in front of the image.
    case commonEntriesAway
    /// Entries claim to be longer than the image.
    case lengths
    /// No instruction says where a frame ends.
    case noFrames
    /// Blocks of instructions are longer than what holds them.
    case endlessBlocks
  }

  private(set) var bytes: [UInt8]
  /// Where `.eh_frame_hdr` is in the file.
  private(set) var header = 0

  /// Reads a program's file.
  ///
  /// - Parameter program: Its path.
  /// - Throws: When it cannot be read, or has no such tables.
  init(of program: String) throws {
    bytes = [UInt8](try Data(contentsOf: URL(filePath: program)))
    let firstSegment = word(32), segmentSize = 56, unwindTables = 0x6474_e550
    let segments = (0..<Int(bytes[56])).map { firstSegment + $0 * segmentSize }
    header = word(try #require(segments.first { word($0) == unwindTables }) + 8)
  }

  /// Reads four bytes.
  func word(_ offset: Int) -> Int {
    Int(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Int32.self) })
  }

  /// Writes four bytes.
  mutating func setWord(_ offset: Int, to value: Int32) {
    withUnsafeBytes(of: value) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
  }

  /// Damages all entries in the same way.
  mutating func inflict(_ damage: Damage) {
    if damage == .entriesAway {
      for entry in 0..<word(header + 8) { setWord(header + 16 + entry * 8, to: 0x7f00_0000) }
      return
    }
    // The tables lie in one segment: they are as far from each other in the file as in memory.
    var entry = header + 4 + word(header + 4)
    while word(entry) > 0 {
      let next = entry + 4 + word(entry)
      inflict(damage, on: entry, until: next)
      entry = next
    }
  }

  private mutating func inflict(_ damage: Damage, on entry: Int, until end: Int) {
    let isCommon = word(entry + 4) == 0
    switch damage {
    case .entriesAway: break
    case .commonEntriesAway: if !isCommon { setWord(entry + 4, to: 0x0800_0000) }
    case .lengths: setWord(entry, to: 0x7fff_fff0)
    // Behind "zR", factors, the return address's register and the encoding.
    case .noFrames: if isCommon { fill(entry + 17..<end, with: 0) }
    case .endlessBlocks: if isCommon { fill(entry + 17..<end, with: 0x16) }
    }
  }

  private mutating func fill(_ range: Range<Int>, with byte: UInt8) {
    for place in range { bytes[place] = byte }
  }
}
