import TraceReader

/// Builds the content of one SYMBOLS chunk.
struct SymbolChunkEncoder {
  private var strings: [String: UInt64] = [:]
  private var stringBytes: [UInt8] = []
  private var functions: [FunctionName: UInt64] = [:]
  private var functionBytes: [UInt8] = []
  private var images: [(index: UInt32, state: EmbeddedImageState)] = []
  private var frameSections: [[UInt8]] = []
  /// Lists of one kind: how many elements, and their bytes.
  private var lists: [SymbolSection: (count: UInt64, bytes: [UInt8])] = [:]
  private var structures: [StructureLayout: UInt64] = [:]
  private var current: [UInt8] = []
  private var currentCount: UInt64 = 0
  private var lastAddress: UInt64 = 0

  /// The size so far, about.
  var byteCount: Int {
    stringBytes.count + functionBytes.count + current.count
      + frameSections.reduce(0) { $0 + $1.count }
      + lists.values.reduce(0) { $0 + $1.bytes.count }
  }

  var isEmpty: Bool { frameSections.isEmpty && images.isEmpty && lists.isEmpty }

  /// Says that the names of an image were looked up.
  mutating func add(image: UInt32, state: EmbeddedImageState) {
    images.append((image, state))
  }

  /// Adds the frames at an ELF address of an image; ascending addresses give the smallest chunks.
  mutating func add(_ frames: [ImageSymbols.Frame], at address: UInt64) {
    current.appendZigzag(address &- lastAddress)
    lastAddress = address
    current.appendVarInt(UInt64(frames.count))
    for frame in frames { add(frame, address) }
    currentCount += 1
  }

  private mutating func add(_ frame: ImageSymbols.Frame, _ address: UInt64) {
    var flags: SymbolSection.Flags = []
    if frame.isInlined { flags.insert(.inlined) }
    if frame.start != nil { flags.insert(.start) }
    if frame.location != nil { flags.insert(.location) }
    if frame.function != nil { flags.insert(.function) }
    if frame.isAllocationWrapper { flags.insert(.allocationWrapper) }
    current.appendVarInt(flags.rawValue)
    if let function = frame.function { current.appendVarInt(index(of: function)) }
    if let start = frame.start { current.appendZigzag(address &- start) }
    if let location = frame.location {
      current.appendVarInt(index(of: location.path))
      current.appendVarInt(UInt64(clamping: location.line))
      current.appendVarInt(UInt64(clamping: location.column))
    }
  }

  /// Adds the symbol of the vtable at an ELF address of an image.
  mutating func add(vtable symbol: String, at address: UInt64, in image: UInt32) {
    append(to: .vtables, [UInt64(image), address, index(of: symbol)])
  }

  /// Adds the variable that begins at an ELF address of an image.
  mutating func add(variable: DataSymbol, at start: UInt64, in image: UInt32) {
    append(to: .variables, [UInt64(image), start, variable.size, index(of: variable.name)])
  }

  /// Adds how many bytes a value of Swift takes, whose type has its witnesses at an ELF address of an image.
  mutating func add(valueSize size: UInt64, witnesses: UInt64, in image: UInt32) {
    append(to: .valueSizes, [UInt64(image), witnesses, size])
  }

  /// Adds the stored properties of a Swift class.
  mutating func add(_ fields: [SwiftField], of type: SwiftClassPlace) {
    append(
      to: .fields,
      [UInt64(type.image), type.descriptor, type.metadata, UInt64(fields.count)]
        + fields.flatMap { [index(of: $0.name), $0.offset, $0.code] })
  }

  /// Adds the elements of an array, by the name of their type.
  mutating func add(_ elements: SwiftElements, named name: String, in image: UInt32) {
    append(
      to: .elements,
      [UInt64(image), index(of: name), elements.stride, UInt64(elements.fields.count)]
        + elements.fields.flatMap { [index(of: $0.name), $0.offset, $0.code] })
  }

  /// Adds the type that the source of a frame names where it allocates.
  mutating func add(type: String, of site: EmbeddedSite) {
    append(to: .types, [UInt64(site.image), site.address, site.code, index(of: type)])
  }

  /// Adds what a function of an image returns.
  mutating func add(_ text: ReturnedText, returnedBy function: String, in image: UInt32) {
    var element = [UInt64(image), index(of: function)]
    switch text {
    case .text(let text): element += [0, index(of: text)]
    case .unknown: element += [Self.unknownText, index(of: "")]
    }
    append(to: .texts, element)
  }

  /// Adds the members of a structure of C or C++.
  mutating func add(_ structure: StructureLayout, at place: EmbeddedStructurePlace) {
    let number = structures[structure] ?? UInt64(structures.count)
    if number == structures.count {
      structures[structure] = number
      var end: UInt64 = 0
      var element = [structure.size, UInt64(structure.runs.count)]
      for run in structure.runs {
        element += [
          run.firstWord - end, run.wordCount, index(of: run.member.name),
          run.member.isUnused ? Self.unused : run.member.isWeak ? 1 : 0,
        ]
        end = run.firstWord + run.wordCount
      }
      append(to: .structures, element)
    }
    append(
      to: .members,
      [UInt64(place.image), place.address.map { $0 &+ 1 } ?? 0, index(of: place.type), number])
  }

  /// The code of words that hold no pointer.
  static let unused: UInt64 = 2
  /// The code of a function that does more than return a text.
  static let unknownText: UInt64 = 1

  private mutating func append(to section: SymbolSection, _ element: [UInt64]) {
    lists[section, default: (0, [])].count += 1
    for number in element { lists[section]?.bytes.appendVarInt(number) }
  }

  /// Ends the frames of an image.
  mutating func endImage(_ image: UInt32) {
    guard currentCount > 0 else { return }
    var section: [UInt8] = []
    section.appendVarInt(UInt64(image))
    section.appendVarInt(currentCount)
    section += current
    frameSections.append(section)
    (current, currentCount, lastAddress) = ([], 0, 0)
  }

  /// The content of the chunk.
  func content() -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ section: SymbolSection, _ parts: [UInt8]...) {
      bytes.appendVarInt(section.rawValue)
      bytes.appendVarInt(UInt64(parts.reduce(0) { $0 + $1.count }))
      for part in parts { bytes += part }
    }
    func count(_ value: some BinaryInteger) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.appendVarInt(UInt64(value))
      return bytes
    }
    add(.strings, count(strings.count), stringBytes)
    add(.functions, count(functions.count), functionBytes)
    if !images.isEmpty {
      var list = count(images.count)
      for (image, state) in images {
        list.appendVarInt(UInt64(image))
        list.appendVarInt(state.rawValue)
      }
      add(.images, list)
    }
    for section in frameSections { add(.frames, section) }
    for section: SymbolSection in [
      .vtables, .variables, .fields, .types, .elements, .structures, .members, .texts,
      .valueSizes,
    ] {
      if let list = lists[section] { add(section, count(list.count), list.bytes) }
    }
    bytes.appendVarInt(SymbolSection.end.rawValue)
    return bytes
  }

  // MARK: Tables

  private mutating func index(of string: String) -> UInt64 {
    if let known = strings[string] { return known }
    let index = UInt64(strings.count)
    strings[string] = index
    stringBytes.appendVarInt(UInt64(string.utf8.count))
    stringBytes += string.utf8
    return index
  }

  private mutating func index(of function: FunctionName) -> UInt64 {
    if let known = functions[function] { return known }
    let index = UInt64(functions.count)
    functions[function] = index
    let isDerived = Demangler.name(of: function.raw) == function
    functionBytes.appendVarInt(
      function.language.code | (isDerived ? SymbolSection.derivedNames : 0))
    functionBytes.appendVarInt(self.index(of: function.raw))
    if !isDerived {
      for name in [function.short, function.full, function.base] {
        functionBytes.appendVarInt(self.index(of: name))
      }
    }
    return index
  }
}
