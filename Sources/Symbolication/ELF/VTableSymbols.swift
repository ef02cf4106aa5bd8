import CLibDW

/// The vtables of an ELF file by address, as far as its symbol tables name them: those of C++
/// (`_ZTV…`), its descriptions of types (`_ZTI…`), the metadata of classes of Embedded Swift (`$e…N`), and
/// what closures of C and objects of libdispatch begin with.
struct VTableSymbols {
  private var names: [UInt64: String] = [:]

  /// Reads `.symtab` and `.dynsym` of the files.
  init(files: [ELFFile]) {
    for file in files {
      file.forEachSymbol(inTables: [SHT_SYMTAB, SHT_DYNSYM]) { symbol, strings in
        add(symbol, of: file, strings: strings)
      }
    }
  }

  private mutating func add(_ symbol: GElf_Sym, of file: ELFFile, strings: UInt32) {
    guard Int32(symbol.st_info & 0xf) == STT_OBJECT, symbol.st_value != 0,
      let text = elf_strptr(file.handle, Int(strings), Int(symbol.st_name))
    else { return }
    let name = String(cString: text)
    if name.hasPrefix("_ZTV") || name.hasPrefix("_ZTI") || SwiftTypeNames.isEmbeddedMetadata(name)
      || ClosureNames.ofClass(name) != nil || DispatchNames.ofVTable(name) != nil
    {
      names[symbol.st_value] = name
    }
  }

  /// The symbol of the vtable that begins at an ELF address.
  func name(at address: UInt64) -> String? { names[address] }
}
