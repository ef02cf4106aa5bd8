import TraceReader

/// Where the description of a Swift class is, as ELF addresses of its image.
struct SwiftClassPlace: Hashable {
  var image: UInt32
  var descriptor: UInt64
  var metadata: UInt64
}

/// A frame that may call an allocator.
struct EmbeddedSite: Hashable {
  var image: UInt32
  /// An ELF address of the image.
  var address: UInt64
  /// Twice the position of the frame among those at the address, and 1 for a `new` expression.
  var code: UInt64
}

extension EmbeddedSite {
  init(_ site: AllocationSite, in image: Image) {
    self.init(
      image: image.index, address: site.lookupAddress &- image.loadBias,
      code: UInt64(site.position) * 2 + (site.isNew ? 1 : 0))
  }
}

/// A function of an image whose returned text is known.
private struct EmbeddedFunction: Hashable {
  var image: UInt32
  var name: String
}

/// Where a structure of C or C++ is known.
struct EmbeddedStructurePlace: Hashable {
  var image: UInt32
  /// Code that knows it, as an ELF address; nil for all of the image.
  var address: UInt64?
  var type: String
}

/// The names that a packed trace holds.
///
/// What is damaged is left out; it is looked up in files then.
final class EmbeddedSymbols {
  private struct Key: Hashable {
    let image: UInt32
    let address: UInt64
  }

  private var frames: [Key: [ImageSymbols.Frame]] = [:]
  private var vtables: [Key: String] = [:]
  private struct Variable {
    var start: UInt64
    var size: UInt64
    var name: String
  }

  /// Those of each image by ascending start.
  private var variables: [UInt32: [Variable]] = [:]
  private var fields: [SwiftClassPlace: [SwiftField]] = [:]
  private var elements: [UInt32: [String: SwiftElements]] = [:]
  private var valueSizes: [Key: UInt64] = [:]
  private var types: [EmbeddedSite: String] = [:]
  private var structures: [EmbeddedStructurePlace: StructureLayout] = [:]
  private var texts: [EmbeddedFunction: ReturnedText] = [:]
  private var states: [UInt32: EmbeddedImageState] = [:]
  /// Whether names may be missing because a part of a chunk could not be read.
  private(set) var isDamaged = false

  /// No call is inlined into so many others.
  private static let greatestFrameCount = 1024
  /// A frame of two bytes takes a hundred in memory: so many are half a gigabyte.
  static let mostFrames = 1 << 22
  private var framesLeft: Int

  /// Decodes the contents of SYMBOLS chunks.
  ///
  /// - Parameters:
  ///   - chunks: The contents, in order.
  ///   - mostFrames: What there is beyond so many frames is left out.
  init(_ chunks: [[UInt8]], mostFrames: Int = mostFrames) {
    framesLeft = mostFrames
    for content in chunks where !decode(content[...]) { isDamaged = true }
    for image in variables.keys { variables[image]?.sort { $0.start < $1.start } }
  }

  /// What stands for the index of an image where frames of generated code are, by their addresses.
  static let noImage = UInt32.max

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

  /// The variable that holds an ELF address of an image.
  func variable(at address: UInt64, in image: UInt32) -> DataSymbol? {
    guard let variables = variables[image] else { return nil }
    let next = variables.partitioningIndex { $0.start > address }
    guard next > 0, address - variables[next - 1].start < variables[next - 1].size else {
      return nil
    }
    let found = variables[next - 1]
    return DataSymbol(name: found.name, offset: address - found.start, size: found.size)
  }

  /// The stored properties of a Swift class; empty where nothing is known.
  func fields(of type: SwiftClassPlace) -> [SwiftField] { fields[type] ?? [] }

  /// The elements of an array, by the name of their type; nil where nothing is known.
  func elements(named name: String, in image: UInt32) -> SwiftElements? { elements[image]?[name] }

  /// How many bytes a value of Swift takes, by the ELF address of its type's witnesses; nil where nothing is known.
  func valueSize(witnesses: UInt64, in image: UInt32) -> UInt64? {
    valueSizes[Key(image: image, address: witnesses)]
  }

  /// The type that the source of a frame names where it allocates.
  func type(of site: EmbeddedSite) -> String? { types[site] }

  /// The members of a structure of C or C++, by its whole name; nil where nothing is known.
  func structure(
    named type: String, isCxx: Bool, at address: UInt64, in image: UInt32
  ) -> StructureLayout? {
    var place = EmbeddedStructurePlace(image: image, address: address, type: type)
    if let found = structures[place] { return found }
    guard isCxx else { return nil }
    place.address = nil
    return structures[place]
  }

  /// What a function of an image returns; nil where nothing is known.
  func text(returnedBy function: String, in image: UInt32) -> ReturnedText? {
    texts[EmbeddedFunction(image: image, name: function)]
  }

  /// - Returns: Whether all of it could be read.
  private func decode(_ content: ArraySlice<UInt8>) -> Bool {
    var cursor = SymbolCursor(content)
    var tables = SymbolTables()
    var layouts: [StructureLayout] = []
    var isWhole = true
    while cursor.remaining > 0 {
      let kind = SymbolSection(rawValue: cursor.number())
      if kind == .end { return isWhole }
      var section = SymbolCursor(cursor.take(cursor.number()))
      guard !cursor.isPastEnd else { return false }
      switch kind {
      case .strings: tables.readStrings(&section)
      case .functions: tables.readFunctions(&section)
      case .images: readImages(&section)
      case .frames: if !readFrames(&section, tables) { isWhole = false }
      case .vtables: readVTables(&section, tables)
      case .variables: readVariables(&section, tables)
      case .fields: readFields(&section, tables)
      case .types: readTypes(&section, tables)
      case .elements: readElements(&section, tables)
      case .structures: layouts = Self.structures(&section, tables)
      case .members: readMembers(&section, tables, layouts)
      case .texts: readTexts(&section, tables)
      case .valueSizes: readValueSizes(&section)
      case .end, nil: break  // Of a later minor version: not for us.
      }
      if section.isPastEnd { isWhole = false }
    }
    return false
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

  private func readVariables(_ section: inout SymbolCursor, _ tables: SymbolTables) {
    for _ in 0..<section.count() {
      let (image, start, size) = (section.number(), section.number(), section.number())
      let name = tables.string(section.number())
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      variables[image, default: []].append(Variable(start: start, size: size, name: name))
    }
  }

  private func readValueSizes(_ section: inout SymbolCursor) {
    for _ in 0..<section.count() {
      let (image, address, size) = (section.number(), section.number(), section.number())
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      valueSizes[Key(image: image, address: address)] = size
    }
  }

  private func readFields(_ section: inout SymbolCursor, _ tables: SymbolTables) {
    for _ in 0..<section.count() {
      let (image, descriptor, metadata) = (section.number(), section.number(), section.number())
      let found = Self.properties(&section, tables)
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      fields[SwiftClassPlace(image: image, descriptor: descriptor, metadata: metadata)] = found
    }
  }

  private static func properties(
    _ section: inout SymbolCursor, _ tables: SymbolTables
  ) -> [SwiftField] {
    var found: [SwiftField] = []
    for _ in 0..<section.count() {
      let (name, offset) = (tables.string(section.number()), section.number())
      found.append(SwiftField(name: name, offset: offset, code: section.number()))
    }
    return found
  }

  private func readElements(_ section: inout SymbolCursor, _ tables: SymbolTables) {
    for _ in 0..<section.count() {
      let (image, name) = (section.number(), tables.string(section.number()))
      let stride = section.number()
      let found = Self.properties(&section, tables)
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      elements[image, default: [:]][name] = SwiftElements(stride: stride, fields: found)
    }
  }

  private static func structures(
    _ section: inout SymbolCursor, _ tables: SymbolTables
  ) -> [StructureLayout] {
    var found: [StructureLayout] = []
    for _ in 0..<section.count() {
      let size = section.number()
      var runs: [StructureLayout.Run] = []
      var end: UInt64 = 0
      for _ in 0..<section.count(upTo: Int(StructureLayout.mostWords)) {
        let (skipped, count) = (section.number(), section.number())
        let (name, code) = (tables.string(section.number()), section.number())
        let member = BlockMember(
          name: name, isWeak: code == 1, isUnused: code == SymbolChunkEncoder.unused)
        guard skipped <= StructureLayout.mostWords, count <= StructureLayout.mostWords else {
          continue
        }
        runs.append(.init(firstWord: end + skipped, wordCount: count, member: member))
        end += skipped + count
      }
      guard !section.isPastEnd, size > 0 else { break }
      found.append(StructureLayout(size: size, runs: runs))
    }
    return found
  }

  private func readMembers(
    _ section: inout SymbolCursor, _ tables: SymbolTables, _ layouts: [StructureLayout]
  ) {
    for _ in 0..<section.count() {
      let (image, address) = (section.number(), section.number())
      let (type, number) = (tables.string(section.number()), section.number())
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      guard number < UInt64(layouts.count) else { continue }
      let place = EmbeddedStructurePlace(
        image: image, address: address == 0 ? nil : address - 1, type: type)
      structures[place] = layouts[Int(number)]
    }
  }

  private func readTexts(_ section: inout SymbolCursor, _ tables: SymbolTables) {
    for _ in 0..<section.count() {
      let (image, name) = (section.number(), tables.string(section.number()))
      let (code, text) = (section.number(), tables.string(section.number()))
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      texts[EmbeddedFunction(image: image, name: name)] =
        code == SymbolChunkEncoder.unknownText ? .unknown : .text(text)
    }
  }

  private func readTypes(_ section: inout SymbolCursor, _ tables: SymbolTables) {
    for _ in 0..<section.count() {
      let (image, address, code) = (section.number(), section.number(), section.number())
      let type = tables.string(section.number())
      guard !section.isPastEnd, let image = UInt32(exactly: image) else { return }
      types[EmbeddedSite(image: image, address: address, code: code)] = type
    }
  }

  /// - Returns: Whether there was room for all frames.
  private func readFrames(_ section: inout SymbolCursor, _ tables: SymbolTables) -> Bool {
    guard let image = UInt32(exactly: section.number()) else { return true }
    var address: UInt64 = 0
    for _ in 0..<section.count() {
      address &+= section.zigzag()
      let count = section.count(upTo: Self.greatestFrameCount)
      guard count <= framesLeft else { return false }
      var found: [ImageSymbols.Frame] = []
      for _ in 0..<count { found.append(tables.readFrame(&section, address)) }
      guard !section.isPastEnd else { return true }
      framesLeft -= count
      frames[Key(image: image, address: address)] = found
    }
    return true
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
      function: function, start: start, location: location, isInlined: flags.contains(.inlined),
      isAllocationWrapper: flags.contains(.allocationWrapper))
  }

  func string(_ index: UInt64) -> String {
    index < UInt64(strings.count) ? strings[Int(index)] : ""
  }

  private func function(_ index: UInt64) -> FunctionName? {
    index < UInt64(functions.count) ? functions[Int(index)] : nil
  }
}
