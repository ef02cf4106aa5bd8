import TraceReader

/// Classes with elements behind their objects, which deques and trees consist of.
extension SwiftLayouts {
  /// A class with elements behind its objects.
  struct ManagedBuffer {
    var elements: SwiftElements
    /// Where the first one is, from the beginning of an object.
    var start: UInt64
    /// Which elements there are, and where; nil where nothing is known of that.
    var collection: Collection?
  }

  /// A collection whose storage says in its header which elements there are.
  enum Collection: CaseIterable {
    case deque, treeNode

    fileprivate var header: String {
      switch self {
      case .deque: "._DequeBufferHeader"
      case .treeNode: "._HashNodeHeader"
      }
    }

    /// The properties of the header, by their offsets in the object.
    ///
    /// Source: `_DequeBufferHeader.swift` in `Sources/DequeModule` of swift-collections, and in
    /// `stdlib/public/Concurrency/Deque` of the Swift repository; `_HashNodeHeader.swift` in
    /// `Sources/HashTreeCollections` of swift-collections.
    fileprivate var properties: [(name: String, offset: UInt64)] {
      switch self {
      case .deque: [("capacity", 16), ("count", 24), ("startSlot.position", 32)]
      case .treeNode:
        [("itemMap", 16), ("childMap", 20), ("_byteCapacity", 24), ("_bytesFree", 28)]
      }
    }
  }

  /// The collection to which a header belongs that has these properties.
  static func collection(header: String, _ fields: [SwiftField]) -> Collection? {
    Collection.allCases.first { collection in
      header.hasSuffix(collection.header)
        && collection.properties.allSatisfy { property in
          fields.contains { ($0.name, $0.offset) == property }
        }
    }
  }

  /// What lies in the slots of the deques that begin with a word, and where these begin.
  ///
  /// - Parameters:
  ///   - word: The first word of an object.
  ///   - memory: Reads a word of the process; 0 where it is not known.
  /// - Returns: nil for other objects, and where nothing is known of the elements.
  public func deque(
    ofWord word: UInt64, memory: (UInt64) -> UInt64
  ) -> (elements: SwiftElements, start: UInt64)? {
    guard let buffer = managedBuffer(ofWord: word, memory: memory), buffer.collection == .deque
    else { return nil }
    return (buffer.elements, buffer.start)
  }

  /// Whether the objects that begin with a word are nodes of the tree of a `TreeDictionary` or `TreeSet`.
  ///
  /// - Parameters:
  ///   - word: The first word of an object.
  ///   - memory: Reads a word of the process; 0 where it is not known.
  /// - Returns: Whether they are.
  public func isTreeNode(_ word: UInt64, memory: (UInt64) -> UInt64) -> Bool {
    managedBuffer(ofWord: word, memory: memory)?.collection == .treeNode
  }

  /// What an offset in an item of the tree is called whose nodes begin with a word: `key.owner`, `value`, `element`.
  ///
  /// - Parameters:
  ///   - offset: From the beginning of the item.
  ///   - word: The first word of a node.
  ///   - stride: How many bytes an item takes.
  /// - Returns: nil where nothing is known of items of this size.
  public func treeItem(at offset: UInt64, ofWord word: UInt64, stride: UInt64) -> String? {
    guard let type = types.type(ofWord: word), let names = Self.treeItem(type),
      let item = treeItem(key: names.key, value: names.value), item.stride == stride
    else { return nil }
    let name = item.property(at: offset)
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }

  private func treeItem(key: String, value: String) -> SwiftElements? {
    guard value != "()" else {
      return elements(named: key).map { element in
        SwiftElements(
          stride: element.stride,
          fields: [SwiftField(name: "element", offset: 0)]
            + element.fields.filter { !$0.name.isEmpty }.map { field in
              var inner = field
              inner.name = SwiftField.path("element", field.name)
              return inner
            })
      }
    }
    return elements(named: "(key: \(key), value: \(value))")
  }

  /// The types of what nodes of trees have: keys and values; of a set no values.
  static func typesInTreeNode(_ type: BlockType) -> [String] {
    treeItem(type).map { [$0.key, $0.value] } ?? []
  }

  private static func treeItem(_ type: BlockType) -> (key: String, value: String)? {
    guard type.name.hasSuffix(".Storage"),
      case .named(let name, let arguments) = SwiftTypeParts(type.name[...]).form,
      arguments.count == 2, name.hasSuffix("._HashNode.Storage")
    else { return nil }
    return (String(arguments[0]), String(arguments[1]))
  }
}
