import CLibDW
import Glibc

/// Recognizes allocators by the messages that they would print, and Go's by what its linker writes.
enum AllocatorTexts {
  /// The beginnings of messages that only one allocator has.
  private static let texts: [(text: StaticString, allocator: String)] = [
    ("<jemalloc>: ", "jemalloc"), ("mimalloc: error: ", "mimalloc"),
    ("tcmalloc: large alloc", "tcmalloc"),
  ]

  /// The allocators in an executable whose symbols have told of none.
  ///
  /// - Returns: They, by name; empty where the file has symbols of its own functions, which would
  ///   have told.
  static func allocators(inStripped file: ELFFile) -> [BundledAllocator] {
    var hasSymbols = false
    file.forEachSection(ofTypes: [UInt32(SHT_SYMTAB)]) { _, _ in hasSymbols = true }
    if hasSymbols { return [] }
    if file.section(named: ".go.buildinfo") != nil {
      return [BundledAllocator(name: "Go", symbol: "", replacesMalloc: false)]
    }
    return allocators(in: file)
  }

  /// The allocators in a library that has one for itself.
  ///
  /// - Returns: They, by name; empty where the file exports a `malloc`, which is for everybody, and
  ///   before which the recorder comes.
  static func allocators(inLibrary file: ELFFile) -> [BundledAllocator] {
    var exportsMalloc = false
    file.forEachSymbol(inTables: [SHT_DYNSYM]) { symbol, strings in
      guard Int32(symbol.st_shndx) != SHN_UNDEF, !exportsMalloc,
        let name = elf_strptr(file.handle, Int(strings), Int(symbol.st_name))
      else { return }
      exportsMalloc = strcmp(name, "malloc") == 0
    }
    return exportsMalloc ? [] : allocators(in: file)
  }

  private static func allocators(in file: ELFFile) -> [BundledAllocator] {
    var found: Set<String> = []
    file.forEachSection(ofTypes: [UInt32(SHT_PROGBITS)]) { section, header in
      let other = UInt64(SHF_WRITE) | UInt64(SHF_EXECINSTR)
      guard header.sh_flags & (UInt64(SHF_ALLOC) | other) == UInt64(SHF_ALLOC),
        let data = elf_rawdata(section, nil), let bytes = data.pointee.d_buf
      else { return }
      let constants = UnsafeRawBufferPointer(start: bytes, count: data.pointee.d_size)
      found.formUnion(texts.filter { TextSearch.holds(constants, $0.text) }.map(\.allocator))
    }
    return found.sorted().map {
      BundledAllocator(name: $0, symbol: "", replacesMalloc: false)
    }
  }
}
