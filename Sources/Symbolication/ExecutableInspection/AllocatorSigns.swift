import CLibDW
import Glibc

/// Recognizes allocators and sanitizers in an executable by its symbols.
struct AllocatorSigns {
  /// A name or beginning of a name that only one allocator has.
  private struct Sign {
    let prefix: StaticString
    let allocator: String
  }

  private var found: [String: String] = [:]
  private var definesMalloc = false
  private var importsMalloc = false
  private var definesNew = false
  /// Whether others could call the executable's `operator new`, as they do where it is the program's own.
  private var exportsNew = false

  /// The sanitizer that the executable was built with.
  private(set) var sanitizer: String?

  /// The allocators that the executable brings along, by name.
  var allocators: [BundledAllocator] {
    var result = found.sorted { $0.key < $1.key }.map { name, symbol in
      BundledAllocator(name: name, symbol: symbol, replacesMalloc: definesMalloc)
    }
    if result.isEmpty, definesMalloc {
      result.append(BundledAllocator(name: "own malloc", symbol: "malloc", replacesMalloc: true))
    }
    // With -static-libstdc++ `operator new` calls the malloc that is recorded.
    if result.isEmpty, definesNew, !importsMalloc {
      result.append(
        BundledAllocator(name: "own operator new", symbol: "_Znwm", replacesMalloc: true))
    }
    return result
  }

  /// Whether the executable has the `operator new` of a C++ library that is linked in, and calls the
  /// C library's malloc by it.
  var hasBundledOperators: Bool { definesNew && !exportsNew && importsMalloc && !definesMalloc }

  /// Reads all symbols of a file.
  mutating func read(_ file: ELFFile) {
    file.forEachSymbol(inTables: [SHT_DYNSYM]) { symbol, strings in
      let isDefined = Int32(symbol.st_shndx) != SHN_UNDEF
      guard isDefined, let name = Self.name(of: symbol, strings, file) else { return }
      if strcmp(name, "_Znwm") == 0 { exportsNew = true }
    }
    file.forEachSymbol(inTables: [SHT_DYNSYM, SHT_SYMTAB]) { symbol, strings in
      guard let name = Self.name(of: symbol, strings, file) else { return }
      inspect(name, isDefined: Int32(symbol.st_shndx) != SHN_UNDEF)
    }
  }

  private static func name(
    of symbol: GElf_Sym, _ strings: UInt32, _ file: ELFFile
  ) -> UnsafeMutablePointer<CChar>? {
    symbol.st_name == 0 ? nil : elf_strptr(file.handle, Int(strings), Int(symbol.st_name))
  }

  private mutating func inspect(_ name: UnsafePointer<CChar>, isDefined: Bool) {
    if sanitizer == nil, name[0] == 0x5f, name[1] == 0x5f {
      sanitizer = Self.sanitizerSymbols.first { Self.has(name, prefix: $0.prefix) }?.allocator
    }
    if strcmp(name, "malloc") == 0 || Self.has(name, prefix: "malloc@") {
      if isDefined { definesMalloc = true } else { importsMalloc = true }
    }
    guard isDefined else { return }
    if strcmp(name, "_Znwm") == 0 { definesNew = true }
    for sign in Self.signs where Self.has(name, prefix: sign.prefix) {
      if found[sign.allocator] == nil { found[sign.allocator] = String(cString: name) }
    }
  }

  private static func has(_ name: UnsafePointer<CChar>, prefix: StaticString) -> Bool {
    prefix.withUTF8Buffer { memcmpPrefix(name, $0) }
  }

  private static func memcmpPrefix(
    _ name: UnsafePointer<CChar>, _ prefix: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    guard let start = prefix.baseAddress else { return true }
    return start.withMemoryRebound(to: CChar.self, capacity: prefix.count) {
      strncmp(name, $0, prefix.count) == 0
    }
  }

  private static let signs = [
    Sign(prefix: "je_malloc", allocator: "jemalloc"),
    Sign(prefix: "_rjem_m", allocator: "jemalloc"),
    Sign(prefix: "_rjem_je_", allocator: "jemalloc"),
    Sign(prefix: "je_arena_", allocator: "jemalloc"),
    Sign(prefix: "mallocx", allocator: "jemalloc"),
    Sign(prefix: "mi_malloc", allocator: "mimalloc"),
    Sign(prefix: "mi_heap_malloc", allocator: "mimalloc"),
    Sign(prefix: "_mi_malloc_generic", allocator: "mimalloc"),
    Sign(prefix: "tc_malloc", allocator: "tcmalloc"),
    Sign(prefix: "TCMallocInternal", allocator: "tcmalloc"),
    Sign(prefix: "_ZN8tcmalloc", allocator: "tcmalloc"),
    Sign(prefix: "sn_malloc", allocator: "snmalloc"),
    Sign(prefix: "sn_rust_alloc", allocator: "snmalloc"),
    Sign(prefix: "_ZN8snmalloc", allocator: "snmalloc"),
    Sign(prefix: "__scudo_", allocator: "scudo"),
    Sign(prefix: "_ZN5scudo", allocator: "scudo"),
    Sign(prefix: "_ZN15partition_alloc", allocator: "PartitionAlloc"),
    Sign(prefix: "rpmalloc", allocator: "rpmalloc"),
    Sign(prefix: "_ZN2v88internal4Heap", allocator: "V8"),
    Sign(prefix: "runtime.mallocgc", allocator: "Go"),
    Sign(prefix: "_PyObject_Malloc", allocator: "pymalloc"),
    Sign(prefix: "PyObject_Malloc", allocator: "pymalloc"),
  ]

  // MARK: Sanitizers

  /// The sanitizer whose run-time library this is.
  static func sanitizer(library: String) -> String? {
    sanitizerLibraries.first { library.contains($0.key) }?.value
  }

  private static let sanitizerSymbols = [
    Sign(prefix: "__asan_init", allocator: "AddressSanitizer"),
    Sign(prefix: "__hwasan_init", allocator: "HWAddressSanitizer"),
    Sign(prefix: "__tsan_init", allocator: "ThreadSanitizer"),
    Sign(prefix: "__msan_init", allocator: "MemorySanitizer"),
    Sign(prefix: "__lsan_init", allocator: "LeakSanitizer"),
    Sign(prefix: "__memprof_init", allocator: "MemProf"),
  ]

  private static let sanitizerLibraries = [
    "libasan.so": "AddressSanitizer", "clang_rt.asan": "AddressSanitizer",
    "libhwasan.so": "HWAddressSanitizer", "clang_rt.hwasan": "HWAddressSanitizer",
    "libtsan.so": "ThreadSanitizer", "clang_rt.tsan": "ThreadSanitizer",
    "clang_rt.msan": "MemorySanitizer",
    "liblsan.so": "LeakSanitizer", "clang_rt.lsan": "LeakSanitizer",
    "clang_rt.memprof": "MemProf",
  ]
}
