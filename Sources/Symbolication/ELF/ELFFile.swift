import CLibDW
import Glibc

/// An open ELF file.
///
/// The file is mapped, not read: debug information is often larger than memory wants to hold.
final class ELFFile {
  /// Why a file could not be opened.
  enum OpenError: Error {
    case missing
    case unreadable(String)
    case notELF
  }

  /// Where libelf reads from, for as long as the handle is in use.
  private enum Source {
    case file(descriptor: Int32)
    case memory(UnsafeMutableRawBufferPointer)
  }

  let path: String
  /// libelf's handle, valid as long as this object.
  let handle: OpaquePointer
  private let source: Source
  /// When the file was last changed, in nanoseconds since 1970.
  let modifiedAt: UInt64

  /// Opens a file.
  init(path: String) throws(OpenError) {
    _ = elf_version(UInt32(EV_CURRENT))
    let descriptor = RecordedFile.open(path)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { throw .missing }
      throw .unreadable(String(cString: strerror(errno)))
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw .unreadable("not a regular file")
    }
    guard let handle = elf_begin(descriptor, ELF_C_READ_MMAP, nil) else {
      close(descriptor)
      throw .notELF
    }
    guard elf_kind(handle) == ELF_K_ELF else {
      elf_end(handle)
      close(descriptor)
      throw .notELF
    }
    self.path = path
    self.handle = handle
    source = .file(descriptor: descriptor)
    let seconds = UInt64(clamping: status.st_mtim.tv_sec)
    modifiedAt = seconds &* 1_000_000_000 &+ UInt64(clamping: status.st_mtim.tv_nsec)
  }

  /// Opens a file that lies in memory; nil where that is no ELF file.
  ///
  /// - Parameters:
  ///   - contents: The bytes; allocated, and released with this object or where this fails.
  ///   - path: Of the file that they come from.
  init?(contents: UnsafeMutableRawBufferPointer, from path: String) {
    _ = elf_version(UInt32(EV_CURRENT))
    let start = contents.assumingMemoryBound(to: CChar.self).baseAddress
    guard let handle = elf_memory(start, contents.count) else {
      contents.deallocate()
      return nil
    }
    guard elf_kind(handle) == ELF_K_ELF else {
      elf_end(handle)
      contents.deallocate()
      return nil
    }
    self.path = path
    self.handle = handle
    source = .memory(contents)
    modifiedAt = 0
  }

  deinit {
    elf_end(handle)
    switch source {
    case .file(let descriptor): close(descriptor)
    case .memory(let contents): contents.deallocate()
    }
  }

  /// The build ID; empty when there is none.
  var buildID: [UInt8] {
    var bytes: UnsafeRawPointer?
    let length = dwelf_elf_gnu_build_id(handle, &bytes)
    guard length > 0, let bytes else { return [] }
    return Array(UnsafeRawBufferPointer(start: bytes, count: length))
  }

  /// Name and checksum of the separate debug file, from `.gnu_debuglink`.
  var debugLink: (name: String, checksum: UInt32)? {
    var checksum: GElf_Word = 0
    guard let name = dwelf_elf_gnu_debuglink(handle, &checksum) else { return nil }
    return (String(cString: name), checksum)
  }

  /// Whether it has DWARF of its own.
  var hasDebugInfo: Bool {
    section(named: ".debug_info") != nil || section(named: ".zdebug_info") != nil
  }

  /// Calls `body` for each symbol of the tables of these types.
  ///
  /// - Parameters:
  ///   - types: `SHT_SYMTAB`, `SHT_DYNSYM`.
  ///   - body: Takes a symbol and the section that its name is in.
  func forEachSymbol(
    inTables types: [Int32], _ body: (_ symbol: GElf_Sym, _ strings: UInt32) -> Void
  ) {
    forEachSection(ofTypes: Set(types.map { UInt32($0) })) { section, header in
      guard let data = elf_getdata(section, nil), header.sh_entsize > 0 else { return }
      let count = Int32(clamping: UInt64(data.pointee.d_size) / header.sh_entsize)
      var symbol = GElf_Sym()
      for number in 0..<count where gelf_getsym(data, number, &symbol) != nil {
        body(symbol, header.sh_link)
      }
    }
  }

  /// The header of the section with a name; nil where there is none.
  func section(named name: String) -> GElf_Shdr? {
    var names = 0
    guard elf_getshdrstrndx(handle, &names) == 0 else { return nil }
    var section = elf_nextscn(handle, nil)
    while let current = section {
      var header = GElf_Shdr()
      if gelf_getshdr(current, &header) != nil,
        let text = elf_strptr(handle, names, Int(header.sh_name)), String(cString: text) == name
      {
        return header
      }
      section = elf_nextscn(handle, current)
    }
    return nil
  }

  /// Calls `body` for each section of one of these types.
  func forEachSection(
    ofTypes types: Set<UInt32>, _ body: (_ section: OpaquePointer, _ header: GElf_Shdr) -> Void
  ) {
    var section = elf_nextscn(handle, nil)
    while let current = section {
      var header = GElf_Shdr()
      if gelf_getshdr(current, &header) != nil, types.contains(header.sh_type) {
        body(current, header)
      }
      section = elf_nextscn(handle, current)
    }
  }
}
