/// All types of a trace, and which were seen where.
public struct TypeTable: Sendable {
  private var types: [TypeID: BlockType] = [:]
  private var typesOfWords: [UInt64: TypeID] = [:]
  /// All boxes of Swift errors begin with the same word: by what they hold.
  private var errorTypes: [UInt64: TypeID] = [:]
  /// Classes of C++ by the addresses of their descriptions.
  private var classesOfDescriptions: [Address: TypeID] = [:]
  private var sightings: [StackID: [TypeSighting]] = [:]
  private var fieldOffsets: [UInt64: [UInt64]] = [:]

  /// Creates an empty table.
  public init() {}

  /// Whether the trace says nothing about types.
  public var isEmpty: Bool { types.isEmpty }

  /// Whether there are types of the Swift runtime among them.
  public var hasSwift: Bool { types.values.contains { $0.kind.isSwift } }

  /// The types in order of appearance.
  public var all: [BlockType] { types.values.sorted { $0.id < $1.id } }

  /// The type with this number.
  public subscript(id: TypeID) -> BlockType? { types[id] }

  /// The type of blocks that begin with this word.
  ///
  /// - Parameters:
  ///   - word: The first word of a block.
  ///   - content: Its third word, which tells boxes of Swift errors apart.
  /// - Returns: nil when no such type is known.
  public func type(ofWord word: UInt64, content: @autoclosure () -> UInt64 = 0) -> BlockType? {
    guard let type = typesOfWords[word].flatMap({ types[$0] }) else { return nil }
    guard type.kind == .swiftError else { return type }
    return errorTypes[content()].flatMap { types[$0] }
  }

  /// The class of C++ whose `type_info` is at an address; nil when no such class is known.
  public func type(describedAt definition: Address) -> BlockType? {
    classesOfDescriptions[definition].flatMap { types[$0] }
  }

  /// Where the stored properties are that the generic Swift class of objects with this first word
  /// adds to those of its superclass, in order of declaration; empty where that is not known.
  public func fieldOffsets(ofWord word: UInt64) -> [UInt64] { fieldOffsets[word] ?? [] }

  /// The types that blocks were seen to have while they were live, of all stacks, in no certain order.
  public var settledSightings: some Sequence<TypeSighting> {
    sightings.values.lazy.joined().filter { $0.evidence == .settled }
  }

  /// What was seen of the blocks that a stack allocated, in the order of the trace.
  public func sightings(of stack: StackID) -> [TypeSighting] { sightings[stack] ?? [] }

  /// Whether a class is a base of another, at any distance.
  public func isBase(_ base: TypeID, of derived: TypeID) -> Bool {
    var type = types[derived]?.base
    for _ in 0..<Self.deepestBase {
      guard let current = type else { return false }
      if current == base { return true }
      type = types[current]?.base
    }
    return false
  }

  /// A limit for damaged tables, in which bases may go in circles.
  private static let deepestBase = 64

  /// Adds a type, or another word of one that is there.
  public mutating func add(_ type: BlockType) {
    if types[type.id] == nil {
      types[type.id] = type
    } else {
      types[type.id]?.words += type.words
    }
    if type.kind == .swiftError { errorTypes[type.definition.rawValue] = type.id }
    if type.kind == .cxxClass, type.definition.rawValue != 0 {
      classesOfDescriptions[type.definition] = type.id
    }
    for word in type.words where typesOfWords[word] == nil { typesOfWords[word] = type.id }
  }

  /// Adds where the stored properties of a class are.
  public mutating func add(fieldOffsets offsets: [UInt64], of word: UInt64) {
    fieldOffsets[word] = offsets
  }

  /// Adds what was seen of a block.
  public mutating func add(_ sighting: TypeSighting) {
    sightings[sighting.stack, default: []].append(sighting)
  }
}
