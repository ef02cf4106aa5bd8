import CLibDW

/// The words of an ELF file that the dynamic linker fills with the addresses of symbols.
struct DynamicRelocations {
  /// Symbols by the address of the word.
  private var names: [UInt64: String] = [:]

  /// Reads the relocations of the files that have an offset of 0 to a symbol of `.dynsym`.
  init(files: some Sequence<ELFFile>) {
    for file in files {
      file.forEachSection(ofTypes: [UInt32(SHT_RELA)]) { section, header in
        guard header.sh_flags & UInt64(SHF_ALLOC) != 0 else { return }
        add(section, symbolsIn: Int(header.sh_link), of: file)
      }
    }
  }

  private mutating func add(
    _ section: OpaquePointer, symbolsIn table: Int, of file: ELFFile
  ) {
    var header = GElf_Shdr()
    guard let symbols = elf_getscn(file.handle, table), gelf_getshdr(symbols, &header) != nil,
      let entries = elf_getdata(section, nil), let symbolData = elf_getdata(symbols, nil)
    else { return }
    let count = entries.pointee.d_size / MemoryLayout<Elf64_Rela>.size
    var (entry, symbol) = (GElf_Rela(), GElf_Sym())
    for number in 0..<Int32(clamping: count) {
      guard gelf_getrela(entries, number, &entry) != nil, entry.r_addend == 0,
        entry.r_info >> 32 != 0,
        gelf_getsym(symbolData, Int32(clamping: entry.r_info >> 32), &symbol) != nil,
        let text = elf_strptr(file.handle, Int(header.sh_link), Int(symbol.st_name))
      else { continue }
      names[entry.r_offset] = String(cString: text)
    }
  }

  /// The symbol whose address is put into the word at an ELF address; nil where there is none.
  func symbol(at address: UInt64) -> String? { names[address] }
}
