import TraceReader

/// What is known of the objects that begin with one word, beyond what their memory shows.
///
/// A class, as each look at a block asks for its layout: a copy would count a reference for each list.
public final class ObjectLayout: Sendable {
  /// What is known of the keys of dictionaries, or of the elements of sets.
  public struct Keys: Sendable, Hashable {
    /// How far they are from each other, in bytes.
    public var stride: UInt64
    /// Where references are that their objects count, in bytes from the beginning of each.
    public var countedOffsets: [UInt64]
    /// Where words are that only identify objects, in bytes from the beginning of each.
    public var identifierOffsets: [UInt64]

    /// Describes keys.
    public init(
      stride: UInt64, countedOffsets: [UInt64] = [], identifierOffsets: [UInt64] = []
    ) {
      (self.stride, self.countedOffsets) = (stride, countedOffsets)
      self.identifierOffsets = identifierOffsets
    }
  }

  /// How many of their bytes can hold anything, when they are allocated with no more than that;
  /// nil where the allocator's slack behind them may be in use.
  public let size: UInt64?
  /// Where `unowned` references are, in bytes from the beginning.
  public let unownedOffsets: [UInt64]
  /// Where more of them are, in bytes from the end of the last word of what was requested.
  public let unownedFromEnd: [UInt64]
  /// Where words are that only identify objects: addresses that nobody can follow, in bytes from the beginning.
  public let identifierOffsets: [UInt64]
  /// Where more of them are, in bytes from the end of the last word of what was requested.
  public let identifiersFromEnd: [UInt64]
  /// Where references are that the objects count which they lead to, in bytes from the beginning.
  public let countedOffsets: [UInt64]
  /// Where more of them are, in bytes from the end of the last word of what was requested.
  public let countedFromEnd: [UInt64]
  /// Where existential containers are: three words for a value, and its metadata.
  public let existentialOffsets: [UInt64]
  /// Where numbers are that may look like pointers.
  public let numberOffsets: [UInt64]
  /// Where more of them are, in bytes from the end of what was requested.
  public let numbersFromEnd: [UInt64]
  /// The form of the table of buckets in them; nil where they are none.
  public let table: SwiftTable.Form?
  /// Whether the keys of the table, or the elements of a set, name objects without holding them.
  public let hasIdentifiersAsKeys: Bool
  /// Whether they are what a program thinks of, and no storage, closure or box behind it.
  public let isInstance: Bool
  /// Whether they are the elements of an array or a deque.
  public let isArray: Bool
  /// Whether they are those of a deque.
  public let isDeque: Bool
  /// Whether they are those of a node of a tree of swift-collections.
  public let isTreeNode: Bool
  /// Where the elements of an array or a deque begin, and a text: behind the counts and the capacity.
  public let elementsStart: UInt64
  /// Whether they are elements of an array that are too small for an address: who has put one there, byte by
  /// byte, may hold what it points to.
  public let hasSmallElements: Bool
  /// Whether they are elements of an array that are objects or texts: what leads into the middle of a block is none.
  public let hasObjectsAsElements: Bool
  /// Whether text is behind what they begin with, where no address can be.
  public let isText: Bool
  /// Whether they are tasks of Swift, which may lie within a slab of the task that waits for them.
  public let isTask: Bool
  /// Where an actor keeps its state and the tasks that wait for it, in bytes from the beginning; nil for others.
  public let actorOffset: UInt64?
  /// How far the elements of an array, or the values of a dictionary, are from each other, where all
  /// that is said of places in them counts from the beginning of each; nil where that is not known.
  public let elementStride: UInt64?
  /// The keys of a dictionary, or the elements of a set; nil for others, and where their size is not known.
  public let keys: Keys?
  /// What is known of boxes of errors, which all begin with one word, by their third word; empty for others.
  public let contents: [UInt64: ObjectLayout]

  /// Describes objects; without arguments nothing is known of them.
  public init(
    size: UInt64? = nil, unownedOffsets: [UInt64] = [], unownedFromEnd: [UInt64] = [],
    identifierOffsets: [UInt64] = [], identifiersFromEnd: [UInt64] = [],
    countedOffsets: [UInt64] = [], countedFromEnd: [UInt64] = [],
    existentialOffsets: [UInt64] = [], numberOffsets: [UInt64] = [],
    numbersFromEnd: [UInt64] = [], table: SwiftTable.Form? = nil,
    hasIdentifiersAsKeys: Bool = false, isInstance: Bool = false, isArray: Bool = false,
    isDeque: Bool = false, isTreeNode: Bool = false, elementsStart: UInt64 = 32,
    hasSmallElements: Bool = false, hasObjectsAsElements: Bool = false, isText: Bool = false,
    isTask: Bool = false,
    actorOffset: UInt64? = nil, elementStride: UInt64? = nil, keys: Keys? = nil,
    contents: [UInt64: ObjectLayout] = [:]
  ) {
    self.size = size
    self.unownedOffsets = unownedOffsets
    self.unownedFromEnd = unownedFromEnd
    self.identifierOffsets = identifierOffsets
    self.identifiersFromEnd = identifiersFromEnd
    self.countedOffsets = countedOffsets
    self.countedFromEnd = countedFromEnd
    self.existentialOffsets = existentialOffsets
    self.numberOffsets = numberOffsets
    self.numbersFromEnd = numbersFromEnd
    self.table = table
    self.hasIdentifiersAsKeys = hasIdentifiersAsKeys
    self.isInstance = isInstance
    self.isArray = isArray || isDeque
    self.isDeque = isDeque
    self.isTreeNode = isTreeNode
    self.elementsStart = elementsStart
    self.hasSmallElements = hasSmallElements
    self.hasObjectsAsElements = hasObjectsAsElements
    self.isText = isText
    self.isTask = isTask
    self.actorOffset = actorOffset
    self.elementStride = elementStride.flatMap { $0 > 0 ? $0 : nil }
    self.keys = keys.flatMap { $0.stride > 0 ? $0 : nil }
    self.contents = contents
  }

  /// What an actor has for itself: twelve words, not all of which are in use.
  ///
  /// Source: `NumWords_DefaultActor` in `include/swift/ABI/MetadataValues.h` of the Swift repository.
  static let actorSize: UInt64 = 96

  static let addressSize: UInt64 = 8

  /// What is known of the object at an address that begins with the word of this layout.
  @inline(__always)
  func layout(ofBlockAt address: UInt64, _ memory: SnapshotMemory) -> ObjectLayout {
    contents.isEmpty ? self : contents[memory.word(at: address &+ 16)] ?? self
  }

  /// Where the object begins, or the element of an array or value of a dictionary, that holds a place
  /// of a block.
  ///
  /// - Parameters:
  ///   - offset: The place.
  ///   - table: The dictionary, where the block is one.
  ///   - address: Of the block.
  /// - Returns: nil in front of the elements or values.
  func start(of offset: UInt64, _ table: SwiftTable?, ofBlockAt address: UInt64) -> UInt64? {
    guard let elementStride else { return 0 }
    if self.table != nil {
      guard let table, table.valueStride == elementStride,
        let place = table.offsetInValue(address &+ offset)
      else { return nil }
      return offset &- place
    }
    guard offset >= elementsStart else { return nil }
    return offset - (offset - elementsStart) % elementStride
  }

  /// One past the last byte of a block that an element of an array can take, or that is no text.
  func end(ofBlockAt start: UInt64, usedTo end: UInt64) -> UInt64 {
    let first = start &+ elementsStart
    if isText { return min(first, end) }
    guard let elementStride, isArray, end >= first else { return end }
    return end - (end - first) % elementStride
  }
}
