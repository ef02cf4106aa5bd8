import TraceReader

/// The names that a packed trace holds.
///
/// What is damaged is left out; its frames are looked up in files then.
final class EmbeddedSymbols {
  private struct Key: Hashable {
    let image: UInt32
    let address: UInt64
  }

  private var frames: [Key: [ImageSymbols.Frame]] = [:]
  private var vtables: [Key: String] = [:]
  private var states: [UInt32: EmbeddedImageState] = [:]

  /// Decodes the contents of SYMBOLS chunks.
  init(_ chunks: [[UInt8]]) {
    for content in chunks { decode(content[...]) }
  }

  /// What was known of an image; nil when its names are not embedded.
  func state(of image: UInt32) -> EmbeddedImageState? { states[image] }

  /// The functions at an ELF address of an image, innermost first; empty where nothing is known.
  func frames(at address: UInt64, in image: UInt32) -> [ImageSymbols.Frame] {
    frames[Key(image: image, address: address)] ?? []
  }

  /// The symbol of the vtable at an ELF address of an image.
  func vtable(at address: UInt64, in image: UInt32) -> String? {
    vtables[Key(image: image, address: address)]
  }

  private func decode(_ content: ArraySlice<UInt8>) {
    var cursor = SymbolCursor(content)
    var tables = SymbolTables()
    while cursor.remaining > 0 {
      let kind = SymbolSection(rawValue: cursor.number())
      if kind == .end { return }
      var section = SymbolCursor(cursor.take(cursor.number()))
      guard !cursor.isPastEnd else { return }
      switch kind {
      case .strings: tables.readStrings(&section)
      case .functions: tables.readFunctions(&section)
      case .images: readImages(&section)
      case .frames: readFrames(&section, tables)
      case .vtables: readVTables(&section, tables)
      case .end, nil: break  // Of a later minor version: not for us.
      }
    }
  }

  private func readImages(_ section: inout SymbolCursor) {
    for _ in 0..<section.count() {
      let (image, state) = (section.number(), section.number())
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      states[image] = EmbeddedImageState(rawValue: state)
    }
  }

  private func readVTables(_ section: inout SymbolCursor, _ tables: SymbolTables) {
    for _ in 0..<section.count() {
      let (image, address, symbol) = (section.number(), section.number(), section.number())
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      vtables[Key(image: image, address: address)] = tables.string(symbol)
    }
  }

  private func readFrames(_ section: inout SymbolCursor, _ tables: SymbolTables) {
    guard let image = UInt32(exactly: section.number()) else { return }
    var address: UInt64 = 0
    for _ in 0..<section.count() {
      address &+= section.zigzag()
      var found: [ImageSymbols.Frame] = []
      for _ in 0..<section.count() { found.append(tables.readFrame(&section, address)) }
      guard !section.isPastEnd else { return }
      frames[Key(image: image, address: address)] = found
    }
  }
}

/// Strings and functions of one SYMBOLS chunk.
private struct SymbolTables {
  private var strings: [String] = []
  private var functions: [FunctionName] = []

  mutating func readStrings(_ section: inout SymbolCursor) {
    for _ in 0..<section.count() {
      let bytes = section.take(section.number())
      guard !section.isPastEnd else { return }
      strings.append(String(decoding: bytes, as: UTF8.self))
    }
  }

  mutating func readFunctions(_ section: inout SymbolCursor) {
    for _ in 0..<section.count() {
      let kind = section.number()
      let raw = string(section.number())
      guard kind & SymbolSection.derivedNames == 0 else {
        functions.append(Demangler.name(of: raw))
        continue
      }
      let names = (string(section.number()), string(section.number()), string(section.number()))
      guard !section.isPastEnd else { return }
      functions.append(
        FunctionName(
          raw: raw, short: names.0, full: names.1, base: names.2,
          language: SymbolLanguage(code: kind) ?? .plain))
    }
  }

  func readFrame(_ section: inout SymbolCursor, _ address: UInt64) -> ImageSymbols.Frame {
    let flags = SymbolSection.Flags(rawValue: section.number())
    let function = flags.contains(.function) ? self.function(section.number()) : nil
    let start = flags.contains(.start) ? address &- section.zigzag() : nil
    var location: SourceLocation?
    if flags.contains(.location) {
      location = SourceLocation(
        path: string(section.number()), line: Int(clamping: section.number()),
        column: Int(clamping: section.number()))
    }
    return ImageSymbols.Frame(
      function: function, start: start, location: location, isInlined: flags.contains(.inlined))
  }

  func string(_ index: UInt64) -> String {
    index < UInt64(strings.count) ? strings[Int(index)] : ""
  }

  private func function(_ index: UInt64) -> FunctionName? {
    index < UInt64(functions.count) ? functions[Int(index)] : nil
  }
}
