import CLibDW

/// What an ELF file puts into memory, by ELF address.
struct ELFContents {
  /// A loaded segment.
  private struct Segment {
    var addresses: Range<UInt64>
    /// Its bytes, which belong to the file.
    var bytes: UnsafeRawBufferPointer
    /// Whether the program may write there, or the dynamic linker before it starts.
    var isWritable: Bool
  }

  /// Keeps the bytes of the segments where they are.
  private let file: ELFFile
  private var segments: [Segment] = []

  init(_ file: ELFFile) {
    self.file = file
    var count = 0
    guard elf_getphdrnum(file.handle, &count) == 0 else { return }
    for number in 0..<Int32(clamping: count) {
      var header = GElf_Phdr()
      guard gelf_getphdr(file.handle, number, &header) != nil, header.p_type == UInt32(PT_LOAD)
      else { continue }
      if let segment = Self.segment(header, of: file) { segments.append(segment) }
    }
  }

  /// A segment, as far as the file has it; nil where it has nothing of it.
  private static func segment(_ header: GElf_Phdr, of file: ELFFile) -> Segment? {
    var size = 0
    guard let start = elf_rawfile(file.handle, &size), header.p_offset < UInt64(size) else {
      return nil
    }
    let count = min(header.p_filesz, UInt64(size) - header.p_offset)
    let (end, overflows) = header.p_vaddr.addingReportingOverflow(count)
    guard !overflows else { return nil }
    let bytes = UnsafeRawBufferPointer(
      start: UnsafeRawPointer(start) + Int(header.p_offset), count: Int(count))
    return Segment(
      addresses: header.p_vaddr..<end, bytes: bytes,
      isWritable: header.p_flags & UInt32(PF_W) != 0)
  }

  /// Bytes at an address; nil where they are not all in one segment of the file.
  func bytes(at address: UInt64, count: Int) -> [UInt8]? {
    guard
      let segment = segments.first(where: {
        $0.addresses.contains(address) && $0.addresses.upperBound - address >= UInt64(count)
      })
    else { return nil }
    let start = Int(address - segment.addresses.lowerBound)
    return Array(segment.bytes[start..<start + count])
  }

  /// Calls `body` for each word of the segments that are written to, at multiples of 8, with its address.
  func forEachWritableWord(_ body: (_ address: UInt64, _ word: UInt64) -> Void) {
    for segment in segments where segment.isWritable {
      let start = segment.addresses.lowerBound
      for offset in stride(from: Int((8 - start % 8) % 8), to: segment.bytes.count - 7, by: 8) {
        let word = segment.bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        body(start &+ UInt64(offset), UInt64(littleEndian: word))
      }
    }
  }

  /// A little-endian integer at an address.
  func integer<Value: FixedWidthInteger>(_: Value.Type, at address: UInt64) -> Value? {
    guard let bytes = bytes(at: address, count: MemoryLayout<Value>.size) else { return nil }
    return bytes.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(as: Value.self)) }
  }

  /// The address that a 32-bit distance at an address leads to; nil where it is 0.
  func relative(at address: UInt64) -> UInt64? {
    guard let distance = integer(Int32.self, at: address), distance != 0 else { return nil }
    return address &+ UInt64(bitPattern: Int64(distance))
  }

  /// Text up to a zero byte, at most 1023 bytes.
  func text(at address: UInt64) -> [UInt8]? { text(at: address, limit: 1024) }

  /// Text up to a zero byte, of fewer bytes than the limit.
  func text(at address: UInt64, limit: Int) -> [UInt8]? {
    var result: [UInt8] = []
    while result.count < limit, let byte = integer(UInt8.self, at: address &+ UInt64(result.count))
    {
      if byte == 0 { return result }
      result.append(byte)
    }
    return nil
  }
}
