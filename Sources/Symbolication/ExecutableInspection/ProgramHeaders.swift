import CLibDW

/// What the program headers of an ELF file say to the dynamic linker.
struct ProgramHeaders {
  /// How many headers there are.
  private(set) var count = 0
  /// The dynamic linker, from `PT_INTERP`.
  private(set) var interpreter: String?
  /// The libraries of `DT_NEEDED`.
  private(set) var neededLibraries: [String] = []
  /// The name that a library gives itself, from `DT_SONAME`.
  private(set) var ownName: String?

  /// Reads the headers of a file; what cannot be read is left out.
  init(of file: ELFFile) {
    var total = 0
    guard elf_getphdrnum(file.handle, &total) == 0 else { return }
    var header = GElf_Phdr()
    for index in 0..<Int32(clamping: min(total, Self.mostHeaders)) {
      guard gelf_getphdr(file.handle, index, &header) != nil else { break }
      count += 1
      if header.p_type == UInt32(PT_INTERP) { interpreter = Self.text(of: header, in: file) }
    }
    file.forEachSection(ofTypes: [UInt32(SHT_DYNAMIC)]) { section, header in
      neededLibraries += Self.names(DT_NEEDED, section, header, file)
      ownName = ownName ?? Self.names(DT_SONAME, section, header, file).first
    }
  }

  private static let mostHeaders = 65_536
  private static let longestPath = 4096

  private static func text(of header: GElf_Phdr, in file: ELFFile) -> String? {
    guard header.p_filesz > 0, header.p_filesz <= longestPath,
      let offset = Int64(exactly: header.p_offset),
      let data = elf_getdata_rawchunk(file.handle, offset, Int(header.p_filesz), ELF_T_BYTE),
      let bytes = data.pointee.d_buf
    else { return nil }
    let text = UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size)
    return String(nameBytes: text.prefix { $0 != 0 })
  }

  private static func names(
    _ tag: Int32, _ section: OpaquePointer, _ header: GElf_Shdr, _ file: ELFFile
  ) -> [String] {
    guard let data = elf_getdata(section, nil), header.sh_entsize > 0 else { return [] }
    var result: [String] = []
    var entry = GElf_Dyn()
    for index in 0..<Int32(clamping: UInt64(data.pointee.d_size) / header.sh_entsize) {
      guard gelf_getdyn(data, index, &entry) != nil, entry.d_tag != DT_NULL else { break }
      guard entry.d_tag == tag, let offset = Int(exactly: entry.d_un.d_val),
        let name = elf_strptr(file.handle, Int(header.sh_link), offset)
      else { continue }
      result.append(String(cString: name))
    }
    return result
  }
}
