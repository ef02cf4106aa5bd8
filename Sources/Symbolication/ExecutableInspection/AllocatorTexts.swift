import CLibDW
import Glibc

/// Recognizes allocators in a stripped executable by the messages that they would print.
enum AllocatorTexts {
  /// The beginnings of messages that only one allocator has.
  private static let texts: [(text: StaticString, allocator: String)] = [
    ("<jemalloc>: ", "jemalloc"), ("mimalloc: error: ", "mimalloc"),
    ("tcmalloc: large alloc", "tcmalloc"),
  ]

  /// The allocators whose messages are in the constants of a file.
  ///
  /// - Parameter file: An executable whose symbols have told of no allocator.
  /// - Returns: They, by name; empty where the file has symbols of its own functions, which would
  ///   have told.
  static func allocators(in file: ELFFile) -> [BundledAllocator] {
    var hasSymbols = false
    file.forEachSection(ofTypes: [UInt32(SHT_SYMTAB)]) { _, _ in hasSymbols = true }
    guard !hasSymbols else { return [] }
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
