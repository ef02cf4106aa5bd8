import CLibDW

/// The symbols that Fedora and its relatives leave in stripped files: those of functions that are not
/// exported, as a small ELF file, compressed, in `.gnu_debugdata`.
///
/// Source: <https://sourceware.org/gdb/current/onlinedocs/gdb.html/MiniDebugInfo.html>
enum MiniDebugInfo {
  /// The ELF file with the symbols; nil where there is none, or it cannot be unpacked.
  static func symbols(of file: ELFFile) -> ELFFile? {
    guard let section = file.section(named: ".gnu_debugdata"),
      section.sh_type == UInt32(SHT_PROGBITS), section.sh_size > 0,
      let data = elf_getdata_rawchunk(
        file.handle, Int64(clamping: section.sh_offset), Int(clamping: section.sh_size),
        ELF_T_BYTE),
      let packed = data.pointee.d_buf,
      let contents = XZ.decompress(
        UnsafeRawBufferPointer(start: packed, count: data.pointee.d_size))
    else { return nil }
    return ELFFile(contents: contents, from: file.path)
  }
}
