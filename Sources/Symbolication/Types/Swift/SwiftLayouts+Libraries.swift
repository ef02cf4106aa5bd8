import TraceReader

/// What lies in values of Swift's own libraries that consist of the program's.
extension SwiftLayouts {
  /// What a `Mutex` guards, or the elements of an `InlineArray`; nil for other types.
  func libraryValue(named name: String, depth: Int) -> SwiftCapturedValues.Sequence? {
    guard depth < Self.deepestStructure,
      case .named(let type, let arguments) = SwiftTypeParts(name[...]).form
    else { return nil }
    switch (type, arguments.count) {
    case (Self.mutex, 1):
      return value(named: String(arguments[0]), depth: depth + 1).flatMap(Self.guarded)
    case (Self.inlineArray, 2):
      guard let count = UInt64(arguments[0]) else { return nil }
      return value(named: String(arguments[1]), depth: depth + 1).flatMap {
        SwiftCapturedValues.Sequence(repeating: $0, count: count)
      }
    default: return nil
    }
  }

  /// Whether a type is one of which ``libraryValue(named:depth:)`` may know what lies in it.
  static func isLibraryValue(_ name: String) -> Bool {
    guard case .named(let type, _) = SwiftTypeParts(name[...]).form else { return false }
    return type == mutex || type == inlineArray
  }

  private static let (mutex, inlineArray): (Substring, Substring) =
    ("Synchronization.Mutex", "Swift.InlineArray")

  /// A value that a `Mutex` guards lies behind the word of 32 bits that is its state.
  private static func guarded(
    _ value: SwiftCapturedValues.Sequence
  ) -> SwiftCapturedValues.Sequence? {
    var all = SwiftCapturedValues.Sequence(size: 4)
    return all.add(value, named: "") ? all : nil
  }

  /// The element of a class with elements behind its objects (`ManagedBuffer`) that an offset lies in: `[3].owner`.
  ///
  /// - Parameters:
  ///   - offset: From the beginning of an object.
  ///   - word: Its first word.
  ///   - memory: Reads a word of the process; 0 where it is not known.
  /// - Returns: nil for other objects, in front of the elements, and where nothing is known of these.
  public func managedElement(
    at offset: UInt64, ofWord word: UInt64, memory: (UInt64) -> UInt64
  ) -> String? {
    guard let buffer = managedBuffer(ofWord: word, memory: memory) else { return nil }
    return buffer.start <= offset && buffer.collection != .treeNode
      ? buffer.elements.name(at: offset - buffer.start + SwiftElements.start) : nil
  }

  /// What lies behind the header of a `ManagedBuffer`, and where.
  func managedBuffer(
    ofWord word: UInt64, memory: (UInt64) -> UInt64
  ) -> ManagedBuffer? {
    let classes = classes(ofWord: word, memory: memory)
    guard let type = classes.lazy.compactMap({ Self.managed($0.type.name) }).first,
      let header = value(named: type.header, depth: 0),
      let element = value(named: type.element, depth: 0),
      let elements = elements(named: type.element)
    else { return nil }
    var object = SwiftCapturedValues.Sequence(size: 16)
    guard object.add(header, named: "") else { return nil }
    let properties = object.fields
    guard object.add(element, named: "") else { return nil }
    return ManagedBuffer(
      elements: elements, start: object.fields[properties.count].offset,
      collection: Self.collection(header: type.header, properties))
  }

  /// The types of the header and the elements of a `ManagedBuffer`; none of other types.
  static func typesInManagedBuffer(_ type: BlockType) -> [String] {
    guard type.kind == .swiftClass else { return [] }
    return managed(type.name).map { [$0.header, $0.element] } ?? typesInTreeNode(type)
  }

  private static func managed(_ name: String) -> (header: String, element: String)? {
    guard case .named("Swift.ManagedBuffer", let arguments) = SwiftTypeParts(name[...]).form,
      arguments.count == 2
    else { return nil }
    return (String(arguments[0]), String(arguments[1]))
  }
}
