import CLibDW

/// What an ELF file puts into memory, by ELF address.
struct ELFContents {
  private let file: ELFFile
  /// Loaded segments: ELF addresses and where the first byte is in the file.
  private var segments: [(addresses: Range<UInt64>, offset: UInt64)] = []

  init(_ file: ELFFile) {
    self.file = file
    var count = 0
    guard elf_getphdrnum(file.handle, &count) == 0 else { return }
    for number in 0..<Int32(clamping: count) {
      var header = GElf_Phdr()
      guard gelf_getphdr(file.handle, number, &header) != nil, header.p_type == UInt32(PT_LOAD)
      else { continue }
      let (end, overflows) = header.p_vaddr.addingReportingOverflow(header.p_filesz)
      if !overflows { segments.append((header.p_vaddr..<end, header.p_offset)) }
    }
  }

  /// Bytes at an address; nil where they are not all in one segment of the file.
  func bytes(at address: UInt64, count: Int) -> [UInt8]? {
    guard
      let segment = segments.first(where: {
        $0.addresses.contains(address) && $0.addresses.upperBound - address >= UInt64(count)
      }),
      let offset = Int64(exactly: segment.offset &+ (address - segment.addresses.lowerBound)),
      let data = elf_getdata_rawchunk(file.handle, offset, count, ELF_T_BYTE),
      let start = data.pointee.d_buf, data.pointee.d_size >= count
    else { return nil }
    return Array(UnsafeRawBufferPointer(start: start, count: count))
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
  func text(at address: UInt64) -> [UInt8]? {
    var result: [UInt8] = []
    while result.count < 1024, let byte = integer(UInt8.self, at: address &+ UInt64(result.count)) {
      if byte == 0 { return result }
      result.append(byte)
    }
    return nil
  }
}
