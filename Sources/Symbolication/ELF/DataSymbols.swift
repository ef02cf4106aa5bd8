import CLibDW
import TraceReader

/// A variable of an image and where in it an address lies.
public struct DataSymbol: Sendable, Hashable {
  /// The demangled name.
  public var name: String
  /// Bytes from the beginning of the variable.
  public var offset: UInt64
  /// Bytes of the variable; at least 1.
  public var size: UInt64

  /// Makes a symbol.
  public init(name: String, offset: UInt64, size: UInt64) {
    self.name = name
    self.offset = offset
    self.size = size
  }

  /// The name as functions are called: `Cache.shared` of `static app.Cache.shared : app.Cache`,
  /// `std::io::stdio::STDOUT` of `std[e28293b1aa0f68bd]::io::stdio::STDOUT`.
  ///
  /// - Returns: The whole name where it is none of Swift or Rust.
  public var shortName: String {
    // Only names of Swift have their type behind them.
    name.contains(" : ") ? SwiftNames.short(name) : RustNames.variable(name)
  }
}

/// The variables of an ELF file by address, as far as its symbol tables name them.
struct DataSymbols {
  private struct Entry {
    var start: UInt64
    var end: UInt64
    var file: UInt32
    var strings: UInt32
    var nameOffset: UInt32
  }

  private let files: [ELFFile]
  private var entries: [Entry] = []

  /// Reads `.symtab` and `.dynsym` of the files.
  init(files: [ELFFile]) {
    self.files = files
    for (index, file) in files.enumerated() {
      file.forEachSymbol(inTables: [SHT_SYMTAB, SHT_DYNSYM]) { symbol, strings in
        add(symbol, file: UInt32(index), strings: strings)
      }
    }
    entries.sort {
      ($0.start, $0.end, $0.file, $0.nameOffset) < ($1.start, $1.end, $1.file, $1.nameOffset)
    }
  }

  private mutating func add(_ symbol: GElf_Sym, file: UInt32, strings: UInt32) {
    let (end, overflows) = symbol.st_value.addingReportingOverflow(max(1, symbol.st_size))
    guard Int32(symbol.st_info & 0xf) == STT_OBJECT, symbol.st_value != 0, !overflows,
      symbol.st_name != 0
    else { return }
    entries.append(
      Entry(
        start: symbol.st_value, end: end, file: file, strings: strings, nameOffset: symbol.st_name))
  }

  /// The variable that holds an ELF address.
  func symbol(at address: UInt64) -> DataSymbol? {
    let next = entries.partitioningIndex { $0.start > address }
    // Variables do not overlap but for aliases, which begin at the same address.
    guard next > 0, address < entries[next - 1].end else { return nil }
    let entry = entries[next - 1]
    let handle = files[Int(entry.file)].handle
    guard let text = elf_strptr(handle, Int(entry.strings), Int(entry.nameOffset)) else {
      return nil
    }
    return DataSymbol(
      name: Demangler.name(of: String(cString: text)).full, offset: address - entry.start,
      size: entry.end - entry.start)
  }
}
