/// How many bytes a value of Swift takes in memory, as far as the name of its type tells: of references,
/// functions, tuples, and types of the standard libraries that have one form for good.
struct SwiftValueLayout {
  /// How many bytes.
  var size: UInt64
  /// On a multiple of what it lies.
  var alignment: UInt64
  /// Whether an optional of it needs no byte more.
  var hasSpareBits: Bool
  /// How a value refers to an object, or that it is a container for a value of any type.
  var ownership = SwiftField.Ownership.strong
  /// Where in it the reference is that its object counts; nil where there is none, or another value in its place.
  var countedReference: UInt64?
  /// The elements of a tuple, with their offsets in it.
  var fields: [SwiftField] = []

  /// How far values are from each other in an array.
  var stride: UInt64 { max(1, (size + alignment - 1) / alignment * alignment) }

  private init(
    _ size: UInt64, _ alignment: UInt64 = 8, spare: Bool = true, counted: UInt64? = nil
  ) {
    (self.size, self.alignment, hasSpareBits) = (size, alignment, spare)
    countedReference = counted
  }

  /// Looks a type up.
  ///
  /// - Parameters:
  ///   - name: Its whole name, as in `TYPE` records.
  ///   - isReference: Whether a type is a class of the program.
  init?(ofTypeNamed name: String, isReference: (String) -> Bool) {
    self.init(name[...], isReference, depth: 0)
  }

  private init?(_ name: Substring, _ isReference: (String) -> Bool, depth: Int) {
    guard depth < Self.greatestDepth else { return nil }
    let parts = SwiftTypeParts(name)
    switch parts.form {
    case .function: self.init(16, counted: 8)
    case .tuple(let elements):
      self.init(tupleOf: elements, isReference, depth: depth)
    case .named("Swift.Optional", let arguments):
      guard let content = arguments.first,
        let layout = Self(content, isReference, depth: depth + 1)
      else { return nil }
      self.init(optional: layout)
    case .named("Swift.Range", let arguments), .named("Swift.ClosedRange", let arguments):
      guard let bound = arguments.first,
        let layout = Self(bound, isReference, depth: depth + 1)
      else { return nil }
      self.init(rangeOf: layout)
    // Whether more cases fit in, too, is not known: nobody has optionals of optionals of them.
    case .named(let type, _):
      if let known = Self.known[type] {
        self = known
      } else if isReference(String(name)) {
        self.init(8, counted: 0)
      } else {
        return nil
      }
    }
  }

  /// An optional, with a tag behind the value where there is no room for it in that.
  private init(optional layout: Self) {
    self.init(
      layout.hasSpareBits ? layout.size : layout.size + 1, layout.alignment,
      spare: layout.hasSpareBits)
    (ownership, fields) = (layout.ownership, layout.fields)
    // Where there is no tuple, its elements may be what was there before.
    for index in fields.indices { fields[index].countedReference = nil }
    countedReference = layout.countedReference
    if !layout.hasSpareBits, layout.size > 0, layout.size % 8 == 0 {
      fields.append(SwiftField(name: "", offset: layout.size, ownership: .number))
    }
  }

  /// Two bounds, one behind the other.
  private init(rangeOf bound: Self) {
    let second = bound.stride
    self.init(second + bound.size, bound.alignment, spare: bound.hasSpareBits)
    fields = [("lowerBound", UInt64(0)), ("upperBound", second)].flatMap { name, offset in
      bound.parts(named: name, at: offset)
    }
  }

  /// The value as a property, and behind it what lies in it.
  private func parts(named name: String, at offset: UInt64) -> [SwiftField] {
    let own = SwiftField(
      name: name, offset: offset, ownership: 1..<8 ~= size ? .number : ownership,
      countedReference: countedReference)
    return [own]
      + fields.map { field in
        var inner = field
        inner.name = SwiftField.path(name, field.name)
        inner.offset += offset
        return inner
      }
  }

  private init?(
    tupleOf elements: [SwiftTypeParts.Element], _ isReference: (String) -> Bool, depth: Int
  ) {
    self.init(0, 1, spare: false)
    for (number, element) in elements.enumerated() {
      guard let layout = Self(element.type, isReference, depth: depth + 1) else { return nil }
      let name = element.name(at: number)
      let offset = (size + layout.alignment - 1) / layout.alignment * layout.alignment
      fields += layout.parts(named: name, at: offset)
      size = offset + layout.size
      alignment = max(alignment, layout.alignment)
      hasSpareBits = hasSpareBits || layout.hasSpareBits
    }
  }

  /// Types are not nested deeper; only a damaged trace says so.
  private static let greatestDepth = 16

  private static let known: [Substring: SwiftValueLayout] = {
    var known: [Substring: SwiftValueLayout] = [:]
    func add(_ layout: SwiftValueLayout, _ names: String...) {
      for name in names { known["Swift.\(name)"] = layout }
    }
    add(SwiftValueLayout(8, spare: false), "Int", "UInt", "Int64", "UInt64", "Double")
    add(SwiftValueLayout(4, 4, spare: false), "Int32", "UInt32", "Float")
    add(SwiftValueLayout(2, 2, spare: false), "Int16", "UInt16")
    add(SwiftValueLayout(1, 1, spare: false), "Int8", "UInt8")
    add(SwiftValueLayout(1, 1), "Bool")
    // Where in a text: never an address.
    var index = SwiftValueLayout(8, spare: false)
    index.ownership = .number
    add(index, "String.Index")
    add(
      SwiftValueLayout(8, counted: 0), "Array", "ContiguousArray", "Dictionary", "Set", "AnyObject")
    add(
      SwiftValueLayout(8), "Error", "Task", "UnsafeContinuation", "CheckedContinuation",
      "Unmanaged", "AnyKeyPath",
      "UnsafePointer", "UnsafeMutablePointer", "UnsafeRawPointer", "UnsafeMutableRawPointer",
      "OpaquePointer")
    add(SwiftValueLayout(16), "String", "Character")
    // What streams have in front of the closures of the program.
    add(SwiftValueLayout(8, counted: 0), "_Deque")
    add(
      SwiftValueLayout(9), "AsyncStream.Continuation.BufferingPolicy",
      "AsyncThrowingStream.Continuation.BufferingPolicy")
    add(SwiftValueLayout(32), "Substring")
    var slice = SwiftValueLayout(32)
    // Where the element with index 0 would be: in front of the storage, in another block or none, where a slice that was
    // copied keeps its indices. The storage is held by the word in front of it.
    slice.fields = [SwiftField(name: "", offset: 8, ownership: .number)]
    add(slice, "ArraySlice")
    var identifier = SwiftValueLayout(8)
    identifier.ownership = .identifier
    add(identifier, "ObjectIdentifier")
    var existential = SwiftValueLayout(40)
    existential.ownership = .existential
    add(existential, "AnyHashable")
    existential.size = 32
    known["Any"] = existential
    for name in ["URL", "Data", "Locale"] {
      known["FoundationEssentials.\(name)"] = SwiftValueLayout(16)
    }
    known["FoundationEssentials.UUID"] = SwiftValueLayout(16, 1, spare: false)
    known["FoundationEssentials.Date"] = SwiftValueLayout(8, spare: false)
    return known
  }()
}
