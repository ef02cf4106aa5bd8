import CLibDW

/// The functions of an image that Go has compiled, as its runtime finds them by their code.
///
/// The runtime needs the table, so that stripped programs (`-ldflags='-s -w'`) have it as well. It is apart from
/// ELF's tables because nothing but Go's own header says where it is and how it is laid out.
///
/// Source: `pcHeader` and `_func` in `src/runtime` of Go 1.18 and later.
struct GoFunctions {
  /// A function that holds an address.
  struct Match {
    let name: String
    let start: UInt64
    /// Of the code there, also where that comes from a function that is inlined.
    let location: SourceLocation?
  }

  private let contents: ELFContents
  private let header: GoFunctionHeader

  /// Finds the table of a file; nil where it has none, or one of another version of Go.
  init?(_ file: ELFFile) {
    guard file.section(named: ".go.buildinfo") != nil || file.section(named: ".gopclntab") != nil
    else { return nil }
    let contents = ELFContents(file)
    var found: GoFunctionHeader?
    file.forEachSection(ofTypes: [UInt32(SHT_PROGBITS)]) { section, _ in
      if found == nil { found = GoFunctionHeader(in: section, contents: contents) }
    }
    guard let found else { return nil }
    self.contents = contents
    header = found
  }

  /// The function whose code is at an ELF address.
  func match(at address: UInt64) -> Match? {
    guard let entry = entry(at: address),
      let nameOffset = contents.integer(Int32.self, at: entry.description &+ 4), nameOffset >= 0,
      let name = text(at: header.names &+ UInt64(nameOffset)), !name.isEmpty
    else { return nil }
    return Match(name: name, start: entry.start, location: location(of: address, in: entry))
  }

  private func text(at address: UInt64) -> String? {
    contents.text(at: address).map { String(nameBytes: $0) }
  }

  // MARK: Functions

  private struct Entry {
    let start: UInt64
    /// Where the rest that is known of it lies.
    let description: UInt64
  }

  /// The beginnings of the functions ascend; behind them there is the end of the last one.
  private func entry(at address: UInt64) -> Entry? {
    guard address >= header.code, let offset = UInt32(exactly: address - header.code),
      let end = start(of: header.count), offset < end
    else { return nil }
    var (low, high) = (UInt64(0), header.count)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      guard let start = start(of: middle) else { return nil }
      if start > offset { high = middle } else { low = middle }
    }
    guard let start = start(of: low), start <= offset,
      let description = contents.integer(UInt32.self, at: header.functions &+ low &* 8 &+ 4)
    else { return nil }
    let place = header.functions &+ UInt64(description)
    // It begins with the same number: no other table would.
    guard contents.integer(UInt32.self, at: place) == start else { return nil }
    return Entry(start: header.code &+ UInt64(start), description: place)
  }

  private func start(of number: UInt64) -> UInt32? {
    contents.integer(UInt32.self, at: header.functions &+ number &* 8)
  }

  // MARK: Lines

  private func location(of address: UInt64, in entry: Entry) -> SourceLocation? {
    guard let file = value(20, at: address, in: entry), file >= 0,
      let unit = contents.integer(UInt32.self, at: entry.description &+ 32),
      let line = value(24, at: address, in: entry), line > 0,
      let name = contents.integer(
        UInt32.self, at: header.units &+ (UInt64(unit) &+ UInt64(file)) &* 4),
      name != .max, let path = text(at: header.files &+ UInt64(name)), !path.isEmpty
    else { return nil }
    return SourceLocation(path: path, line: Int(line))
  }

  /// A value that changes along the code of a function: pairs of its difference (zigzag) and of the length of
  /// code that has it, up to a difference of 0.
  ///
  /// - Parameters:
  ///   - field: Where the description of the function has the place of the pairs; 0 there: none.
  ///   - address: In the function.
  ///   - entry: The function.
  /// - Returns: nil where the pairs end before the address.
  private func value(_ field: UInt64, at address: UInt64, in entry: Entry) -> Int32? {
    guard let place = contents.integer(UInt32.self, at: entry.description &+ field), place > 0
    else { return nil }
    var (position, end, value) = (header.values &+ UInt64(place), entry.start, Int32(-1))
    for pair in 0..<Self.mostPairs {
      guard let difference = varint(at: &position), difference != 0 || pair == 0,
        let length = varint(at: &position)
      else { return nil }
      value &+= Int32(bitPattern: difference >> 1) ^ -Int32(bitPattern: difference & 1)
      end &+= UInt64(length) &* header.quantum
      if address < end { return value }
    }
    return nil
  }

  private static let mostPairs = 1 << 16

  private func varint(at position: inout UInt64) -> UInt32? {
    var value: UInt32 = 0
    for shift in stride(from: UInt32(0), to: 35, by: 7) {
      guard let byte = contents.integer(UInt8.self, at: position) else { return nil }
      position &+= 1
      value |= UInt32(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }
}

/// Where the parts of Go's table are, as ELF addresses.
private struct GoFunctionHeader {
  /// Bytes that the length of all code is a multiple of.
  let quantum: UInt64
  /// The number of functions.
  let count: UInt64
  /// Where their code begins.
  let code: UInt64
  let names: UInt64
  let units: UInt64
  let files: UInt64
  let values: UInt64
  let functions: UInt64

  private static let size: UInt64 = 72
  /// Of Go 1.20; that of Go 1.18 is 1 less.
  private static let magic: UInt32 = 0xffff_fff1
  private static let mostFunctions: UInt64 = 1 << 24

  /// Looks for the table in a section of constants: one of its own, or where linkers put those that need
  /// relocations.
  init?(in section: OpaquePointer, contents: ELFContents) {
    var header = GElf_Shdr()
    guard gelf_getshdr(section, &header) != nil, header.sh_flags & UInt64(SHF_ALLOC) != 0,
      header.sh_flags & UInt64(SHF_EXECINSTR) == 0, header.sh_addr % 8 == 0,
      let data = elf_rawdata(section, nil), let start = data.pointee.d_buf
    else { return nil }
    let bytes = UnsafeRawBufferPointer(start: start, count: data.pointee.d_size)
    for offset in stride(from: 0, to: bytes.count - Int(Self.size) + 1, by: 8) {
      let magic = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      guard UInt32(littleEndian: magic) | 1 == Self.magic,
        let found = Self(at: header.sh_addr &+ UInt64(offset), contents: contents)
      else { continue }
      self = found
      return
    }
    return nil
  }

  private init?(at address: UInt64, contents: ELFContents) {
    func integer(_ offset: UInt64) -> UInt64? {
      contents.integer(UInt64.self, at: address &+ offset)
    }
    // Zeros, the quantum, and the size of pointers.
    guard let sizes = contents.integer(UInt32.self, at: address &+ 4), sizes & 0xffff == 0,
      let count = integer(8), 1...Self.mostFunctions ~= count,
      // Where it is 0, only the runtime knows.
      let code = integer(24), code != 0,
      let names = integer(32), let units = integer(40), let files = integer(48),
      let values = integer(56), let functions = integer(64),
      Self.size <= names, names < units, units <= files, files < values, values < functions
    else { return nil }
    quantum = UInt64(sizes >> 16 & 0xff)
    guard [1, 2, 4].contains(quantum), sizes >> 24 == 8 else { return nil }
    self.count = count
    self.code = code
    self.names = address &+ names
    self.units = address &+ units
    self.files = address &+ files
    self.values = address &+ values
    self.functions = address &+ functions
  }
}
