import CLibDW
import TraceReader

/// The functions of an ELF file's symbol tables, found by address.
///
/// Names stay in the mapped file until one is asked for.
struct SymbolIndex {
  /// What a look-up gives.
  struct Match {
    let name: String
    let start: UInt64
  }

  private struct Entry {
    let start: UInt64
    /// One past the end; for symbols without size, the end of their section.
    let end: UInt64
    let file: UInt32
    let stringTable: UInt32
    let nameOffset: UInt32
    let rank: UInt8
    let isSized: Bool
  }

  private let files: [ELFFile]
  private let entries: [Entry]

  /// Reads the tables of `files`.
  ///
  /// All of `.symtab`; where there is none, `.dynsym`, and what is left beside it in ``MiniDebugInfo``.
  init(files: [ELFFile]) {
    var files = files
    var entries: [Entry] = []
    for (index, file) in files.enumerated() {
      Self.read(file, type: SHT_SYMTAB, index: UInt32(index), into: &entries)
    }
    if entries.isEmpty {
      for (index, file) in files.enumerated() {
        Self.read(file, type: SHT_DYNSYM, index: UInt32(index), into: &entries)
      }
      for file in files.compactMap(MiniDebugInfo.symbols) {
        Self.read(file, type: SHT_SYMTAB, index: UInt32(files.count), into: &entries)
        files.append(file)
      }
    }
    self.files = files
    self.entries = entries.sorted { ($0.start, $0.rank) < ($1.start, $1.rank) }
  }

  var isEmpty: Bool { entries.isEmpty }

  /// The function that covers an address.
  func match(at address: UInt64) -> Match? {
    // Sized symbols may nest; one without size counts only when nothing begins after it.
    var position = entries.partitioningIndex { $0.start > address } - 1
    var unsized: Int?
    let nearest = position >= 0 ? entries[position].start : 0
    for _ in 0..<Self.longestSearch where position >= 0 {
      let entry = entries[position]
      if address < entry.end {
        if entry.isSized { return best(startingLike: position) }
        if entry.start == nearest { unsized = position }
      }
      position -= 1
    }
    return unsized.flatMap(best(startingLike:))
  }

  /// The most telling of the names that one address has.
  private func best(startingLike position: Int) -> Match? {
    let model = entries[position]
    var first = position
    while first > 0, entries[first - 1].start == model.start { first -= 1 }
    var best: (score: Int, name: String)?
    for entry in entries[first...].prefix(Self.longestSearch) {
      guard entry.start == model.start else { break }
      guard entry.isSized == model.isSized, let name = name(of: entry) else { continue }
      // `malloc` says more than `__libc_malloc`: fewer underscores first, then global symbols.
      let underscores =
        name.hasPrefix("_Z") || name.hasPrefix("_R")
        ? 0 : name.utf8.prefix { $0 == UInt8(ascii: "_") }.count
      let score = underscores * 8 + Int(entry.rank)
      if score < best?.score ?? .max { best = (score, name) }
    }
    return best.map { Match(name: $0.name, start: model.start) }
  }

  private func name(of entry: Entry) -> String? {
    let file = files[Int(entry.file)]
    guard
      let text = elf_strptr(file.handle, Int(entry.stringTable), Int(entry.nameOffset)),
      text.pointee != 0
    else { return nil }
    return String(cString: text)
  }

  private static let longestSearch = 32

  // MARK: Reading

  private static func read(
    _ file: ELFFile, type: Int32, index: UInt32, into entries: inout [Entry]
  ) {
    let code = executableSections(of: file)
    file.forEachSymbol(inTables: [type]) { symbol, strings in
      if let entry = entry(symbol, in: code, file: index, strings: strings) {
        entries.append(entry)
      }
    }
  }

  private static func entry(
    _ symbol: GElf_Sym, in code: [Int: Range<UInt64>], file: UInt32, strings: UInt32
  ) -> Entry? {
    let kind = Int32(symbol.st_info & 0xf)
    let isFunction = kind == STT_FUNC || kind == STT_GNU_IFUNC
    guard isFunction || kind == STT_NOTYPE, symbol.st_name != 0 else { return nil }
    guard let section = code[Int(symbol.st_shndx)], section.contains(symbol.st_value) else {
      return nil
    }
    let (end, overflow) = symbol.st_value.addingReportingOverflow(symbol.st_size)
    let isSized = symbol.st_size > 0 && !overflow && isFunction
    let binding: UInt8 =
      switch Int32(symbol.st_info >> 4) {
      case STB_GLOBAL: 0
      case STB_WEAK: 1
      default: 2
      }
    return Entry(
      start: symbol.st_value, end: isSized ? end : section.upperBound, file: file,
      stringTable: strings, nameOffset: symbol.st_name, rank: binding + (isFunction ? 0 : 4),
      isSized: isSized)
  }

  /// The addresses of each section that holds code, by section index.
  private static func executableSections(of file: ELFFile) -> [Int: Range<UInt64>] {
    var result: [Int: Range<UInt64>] = [:]
    file.forEachSection(ofTypes: [UInt32(SHT_PROGBITS), UInt32(SHT_NOBITS)]) { section, header in
      guard header.sh_flags & UInt64(SHF_EXECINSTR) != 0 else { return }
      let (end, overflow) = header.sh_addr.addingReportingOverflow(header.sh_size)
      if !overflow { result[elf_ndxscn(section)] = header.sh_addr..<end }
    }
    return result
  }
}
