import TraceReader

/// Knows the stored properties of the Swift classes of a trace.
///
/// Read when they are asked for and kept. Belongs to one thread at a time.
public final class SwiftLayouts {
  let types: TypeTable
  let images: ImageMap
  let symbolicator: (any Symbolicator)?
  private var known: [UInt64: [SwiftField]] = [:]
  private(set) lazy var elementTypes = SwiftElementTypes(types, images)
  private var knownElements: [String: SwiftElements?] = [:]
  private var knownCaptures: [TypeID: SwiftCapturedValues?] = [:]

  /// More superclasses than this has no class; only a damaged trace says so.
  private static let deepestClass = 32
  /// Nor is a tuple in more others.
  private static let deepestTuple = 16

  /// Makes layouts for the classes of one trace; without arguments it knows none.
  public init(
    types: TypeTable = TypeTable(), images: ImageMap = ImageMap(images: []),
    symbolicator: (any Symbolicator)? = nil
  ) {
    self.types = types
    self.images = images
    self.symbolicator = symbolicator
  }

  /// The stored properties of the objects that begin with a word, inherited ones first.
  ///
  /// - Parameters:
  ///   - word: The first word of an object: the address of its class's metadata.
  ///   - memory: Reads a word of the process; 0 where it is not known.
  /// - Returns: Empty where nothing is known.
  public func fields(ofWord word: UInt64, memory: (UInt64) -> UInt64) -> [SwiftField] {
    if let fields = known[word] { return fields }
    let fields = classes(ofWord: word, memory: memory).reversed().flatMap {
      ownFields(of: $0.type, metadata: $0.metadata)
    }
    known[word] = fields
    return fields
  }

  /// The class of the objects that begin with a word, and its superclasses, itself first.
  ///
  /// - Parameters:
  ///   - word: The first word of an object: the address of its class's metadata.
  ///   - memory: Reads a word of the process; 0 where it is not known.
  /// - Returns: As far as they are known.
  func classes(
    ofWord word: UInt64, memory: (UInt64) -> UInt64
  ) -> [(type: BlockType, metadata: UInt64)] {
    var classes: [(type: BlockType, metadata: UInt64)] = []
    var metadata = word
    for _ in 0..<Self.deepestClass {
      guard let type = types.type(ofWord: metadata), type.kind == .swiftClass else { break }
      classes.append((type, metadata))
      metadata = memory(metadata &+ 8)
    }
    return classes
  }

  /// The stored property that an offset of the objects that begin with a word lies in.
  ///
  /// A property of several words, an enum with a payload for example, is meant by each of them. What
  /// is allocated behind an object, such as the elements of an array, is none.
  public func field(
    at offset: UInt64, ofWord word: UInt64, memory: (UInt64) -> UInt64
  ) -> SwiftField? {
    guard let type = types.type(ofWord: word), type.instanceSize == 0 || offset < type.instanceSize
    else {
      return nil
    }
    return fields(ofWord: word, memory: memory).last { $0.offset <= offset }
  }

  /// What lies in each element of the arrays, or in the values of the dictionaries, that begin with a
  /// word.
  ///
  /// - Returns: nil for anything but their storage, and where nothing is known: of generic
  ///   types and of protocols.
  public func elements(ofWord word: UInt64) -> SwiftElements? {
    types.type(ofWord: word).flatMap(SwiftElementTypes.element).flatMap(elements)
  }

  /// What lies in each key of the dictionaries, or in the elements of the sets, that begin with a word.
  public func keys(ofWord word: UInt64) -> SwiftElements? {
    types.type(ofWord: word).flatMap(SwiftElementTypes.key).flatMap(elements)
  }

  /// What an offset in the closure contexts and boxes that begin with a word is called.
  ///
  /// - Parameters:
  ///   - offset: From the beginning of the block.
  ///   - word: The first word of the block.
  ///   - content: Its third word, which tells boxes of errors apart.
  ///   - size: How many bytes were requested for it.
  /// - Returns: nil for other blocks, and where nothing is known.
  public func captured(
    at offset: UInt64, ofWord word: UInt64, content: @autoclosure () -> UInt64, size: UInt64
  ) -> String? {
    types.type(ofWord: word, content: content())
      .flatMap(captures)?.name(at: offset, ofBlockOf: size)
  }

  /// What lies in closure contexts and boxes of a type.
  ///
  /// In generic code it may lie behind these places.
  ///
  /// - Returns: Empty for other blocks, and where nothing is known.
  public func capturedFields(of type: BlockType) -> [SwiftField] {
    captures(of: type)?.fields ?? []
  }

  /// Where references are in closure contexts and boxes of a type that do not hold what they point to, in bytes from
  /// the end of the last word.
  public func unownedFromEnd(of type: BlockType) -> [UInt64] {
    let plain = type.kind == .swiftCaptures ? SwiftCaptureLayout(type.name) : nil
    let known = captures(of: type)?.unownedFromEnd ?? []
    return Set(known).union(plain?.unownedFromEnd ?? []).sorted()
  }

  /// Where words are in closure contexts and boxes of a type that only identify objects, in bytes from the end of the
  /// last word.
  public func identifiersFromEnd(of type: BlockType) -> [UInt64] {
    captures(of: type)?.identifiersFromEnd ?? []
  }

  /// Where references are in closure contexts and boxes of a type that their objects count, in bytes from the end of
  /// the last word.
  public func countedFromEnd(of type: BlockType) -> [UInt64] {
    let plain = type.kind == .swiftCaptures ? SwiftCaptureLayout(type.name) : nil
    let known = captures(of: type)?.countedFromEnd ?? []
    return Set(known).union(plain?.countedFromEnd ?? []).sorted()
  }

  /// Where words begin in closure contexts and boxes of a type that are no pointers, in bytes from the end of what was
  /// requested.
  public func numbersFromEnd(of type: BlockType) -> [UInt64] {
    let plain = type.kind == .swiftCaptures ? SwiftCaptureLayout(type.name) : nil
    return plain?.numbersFromEnd ?? captures(of: type)?.numbersFromEnd ?? []
  }

  private func captures(of type: BlockType) -> SwiftCapturedValues? {
    if let known = knownCaptures[type.id] { return known }
    let values = SwiftCapturedValues(type) { value(named: $0, depth: 0) }
    knownCaptures[type.id] = .some(values)
    return values
  }

  /// A value of a type with this name; nil where its size is not known.
  func value(named name: String, depth: Int) -> SwiftCapturedValues.Sequence? {
    if let layout = elementTypes.valueLayout(named: name) { return .init(layout) }
    if let own = libraryValue(named: name, depth: depth) { return own }
    guard case .tuple(let parts) = SwiftTypeParts(name[...]).form else {
      if let elements = elements(named: name, depth: depth) { return .init(elements) }
      return nil
    }
    return tuple(of: parts, depth: depth)
  }

  private func tuple(
    of parts: [SwiftTypeParts.Element], depth: Int
  ) -> SwiftCapturedValues.Sequence? {
    guard depth < Self.deepestTuple else { return nil }
    var tuple = SwiftCapturedValues.Sequence()
    for (number, part) in parts.enumerated() {
      guard let value = value(named: String(part.type), depth: depth + 1),
        tuple.add(value, named: part.name(at: number))
      else { return nil }
    }
    return tuple
  }

  /// What lies in each element of an array of a type.
  func elements(named name: String) -> SwiftElements? { elements(named: name, depth: 0) }

  private func elements(named name: String, depth: Int) -> SwiftElements? {
    if let known = knownElements[name] { return known }
    var elements = elementTypes.layout(named: name)
    if elements == nil, case .tuple(let parts) = SwiftTypeParts(name[...]).form {
      elements = tuple(of: parts, depth: depth).map(SwiftElements.init)
    } else if elements == nil {
      elements =
        elementTypes.images(defining: name).lazy.compactMap {
          self.symbolicator?.swiftElements(named: name, in: $0)
        }.first.map { SwiftElements(stride: $0.stride, fields: self.expanded($0.fields, of: name)) }
        ?? composed(named: name, depth: depth)
        ?? SwiftExistentials.elements(
          name, isReference: elementTypes.isReference, elements: self.elements)
        ?? optional(named: name, depth: depth)
    }
    knownElements[name] = .some(elements)
    return elements
  }

  /// A generic structure whose size depends on its arguments, or one of the libraries that is known.
  private func composed(named name: String, depth: Int) -> SwiftElements? {
    if let own = libraryValue(named: name, depth: depth) { return SwiftElements(own) }
    return structure(named: name, depth: depth).flatMap {
      $0.isWhole ? SwiftElements($0.known) : nil
    }
  }

  /// How many bytes a value of Swift takes.
  ///
  /// - Parameters:
  ///   - witnesses: The address of the value witnesses of its type.
  ///   - time: When they were there.
  /// - Returns: nil where no image says.
  public func valueSize(witnesses: UInt64, at time: EventTime) -> UInt64? {
    let address = Address(witnesses)
    return images.image(containing: address, at: time).flatMap {
      symbolicator?.swiftValueSize(witnesses: address, in: $0)
    }
  }

  /// Whether the objects that begin with a word are the storage of a dictionary.
  public func isDictionary(_ word: UInt64) -> Bool { isStorage(word, "Swift._DictionaryStorage<") }

  /// Whether the objects that begin with a word are the storage of a set.
  public func isSet(_ word: UInt64) -> Bool { isStorage(word, "Swift._SetStorage<") }

  /// Whether what begins with a word is a task.
  public func isTask(_ word: UInt64) -> Bool { types.type(ofWord: word)?.kind == .swiftTask }

  private func isStorage(_ word: UInt64, _ prefix: String) -> Bool {
    types.type(ofWord: word)?.name.hasPrefix(prefix) == true
  }

  /// The stored properties that a class adds to those of its superclass.
  func ownFields(of type: BlockType, metadata: UInt64) -> [SwiftField] {
    guard let image = images.image(of: type, metadata: metadata, in: types) else { return [] }
    let reference = SwiftClassReference(
      descriptor: type.definition, metadata: Address(metadata),
      offsets: types.fieldOffsets(ofWord: metadata))
    return expanded(symbolicator?.swiftFields(of: reference, in: image) ?? [], of: type.name)
  }
}

extension ImageMap {
  /// The image that holds the descriptor of a Swift class and tells its stored properties.
  ///
  /// - Returns: nil where it holds no metadata of the class, and the trace does not say either where
  ///   the properties are.
  func image(of type: BlockType, metadata: UInt64, in types: TypeTable) -> Image? {
    let image = image(containing: type.definition, at: type.time)
    let isKnown = !types.fieldOffsets(ofWord: metadata).isEmpty
    return image.flatMap { isKnown || $0.contains(Address(metadata)) ? $0 : nil }
  }
}
