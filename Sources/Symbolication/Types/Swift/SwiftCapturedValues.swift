import TraceReader

/// What the values are called that closures capture, and those in boxes: of variables that are captured,
/// of indirect cases of enums, of errors.
///
/// ```
/// closure context    +0 metadata  +8 counts  +16 types that generic code was made for, values
/// box of an error    +0 metadata  +8 counts  +16 type  +24 conformance  +32 value
/// ```
/// The values are at the end, one behind the other.
/// Source: `stdlib/public/runtime/ErrorObject.h` of the Swift repository.
struct SwiftCapturedValues {
  /// Values that lie behind each other.
  struct Sequence {
    /// What is in them, with offsets from the beginning of the first one.
    private(set) var fields: [SwiftField] = []
    /// How many bytes they take, at most where that is not exact.
    private(set) var size: UInt64 = 0
    /// On a multiple of what the first one lies.
    private(set) var alignment: UInt64 = 1
    /// Whether there is no padding at the end.
    private(set) var isExact = true
    /// Of a value, how it refers to objects.
    private(set) var ownership = SwiftField.Ownership.strong
    /// Of a value, where in it the reference is that its object counts; nil where none is known for certain.
    private(set) var countedReference: UInt64?

    /// Puts a value behind the others.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: What it is called; empty where only what is in it has a name.
    /// - Returns: false where its place is not known.
    mutating func add(_ value: Sequence, named name: String) -> Bool {
      guard isExact || value.alignment >= 8 else { return false }
      let start = (size + value.alignment - 1) & ~(value.alignment - 1)
      let isSmall = 1..<8 ~= value.size
      fields.append(
        SwiftField(
          name: name, offset: start, ownership: isSmall ? .number : value.ownership,
          countedReference: value.countedReference))
      for field in value.fields {
        var inner = field
        inner.name = SwiftField.path(name, field.name)
        inner.offset += start
        fields.append(inner)
      }
      size = start + value.size
      alignment = max(alignment, value.alignment)
      isExact = value.isExact
      return true
    }

    /// The room for a value, and its metadata.
    private static let containerSize: UInt64 = 32

    /// No values.
    init() {}

    /// A value of a type with one form.
    init(_ layout: SwiftValueLayout) {
      (size, alignment) = (layout.size, layout.alignment)
      fields = layout.fields
      (ownership, countedReference) = (layout.ownership, layout.countedReference)
    }

    /// A structure, an enum or an `any P` of the program.
    init(_ elements: SwiftElements) {
      size = elements.stride
      alignment = min(8, 1 << UInt64(elements.stride.trailingZeroBitCount))
      isExact =
        elements.fields == SwiftElements.ofAnyType || elements.fields == SwiftElements.ofObjects
      // Protocols of classes only leave out the room for a value.
      let isContainer = elements.fields.first?.ownership == .existential
      ownership = isExact && isContainer && size >= Self.containerSize ? .existential : .strong
      countedReference = isExact ? elements.fields.first?.countedReference : nil
      fields = isExact ? [] : elements.fields
    }

    /// An optional one.
    ///
    /// A reference in it has room to say that there is none, where what else is in it may be what was there before.
    ///
    /// - Returns: nil where there may be no room, so that a tag could stand behind it.
    var optional: Sequence? {
      guard fields.contains(where: { $0.countedReference != nil || $0.ownership == .unowned })
      else { return nil }
      var optional = self
      for index in fields.indices { optional.fields[index].countedReference = nil }
      return optional
    }

    /// A property of a generic structure, of which all is known without the arguments of this.
    ///
    /// - Returns: nil for others.
    init?(_ member: SwiftMember) {
      guard let size = member.size, let own = member.fields.first else { return nil }
      (self.size, alignment) = (size, member.alignment)
      (ownership, countedReference) = (own.ownership, own.countedReference)
      fields = member.fields.dropFirst().map {
        var field = $0
        field.name = SwiftField.path($0.name, within: own.name)
        return field
      }
    }

    /// Values of one type, each called by its number: `[2]`; of many nothing but their size is known.
    ///
    /// - Returns: nil where they are more than a program can have.
    init?(repeating value: Sequence, count: UInt64) {
      let (size, isTooLarge) = value.stride.multipliedReportingOverflow(by: count)
      guard !isTooLarge, size < 1 << 32 else { return nil }
      alignment = value.alignment
      if count <= Self.mostFields / UInt64(value.fields.count + 1) {
        for number in 0..<count { _ = add(value, named: "[\(number)]") }
      }
      (self.size, isExact) = (size, true)
    }

    private static let mostFields: UInt64 = 1024

    /// How far values are from each other.
    private var stride: UInt64 { (size + alignment - 1) & ~(alignment - 1) }

    /// A value of which its mangled type tells all that is known.
    init(
      size: UInt64, ownership: SwiftField.Ownership = .strong, countedReference: UInt64? = nil
    ) {
      (self.size, self.ownership) = (size, ownership)
      self.countedReference = countedReference
      alignment = min(size, 8)
    }
  }

  private let front: Sequence
  /// The number of the value of which nothing tells how large it is.
  private let unknown: Int?
  /// Whether that is a container for any type; else it may begin anywhere.
  private let isContainer: Bool
  private let back: Sequence
  private let isBox: Bool
  /// Where the first value may be.
  private let header: UInt64

  /// Lays out what a closure captures, or the value in a box; nil for other blocks, and where more than one size is
  /// not known.
  ///
  /// What lies behind a value of unknown size, in generic code that of a parameter, is known from the end.
  ///
  /// - Parameters:
  ///   - type: The type of the block.
  ///   - value: What is known of a type by its whole name.
  init?(_ type: BlockType, value: (String) -> Sequence?) {
    let values = Self.values(of: type)
    isBox = Self.isBox(type, values)
    header = type.kind == .swiftError ? 32 : 16
    var (front, unknown, sequence): (Sequence, Int?, Sequence) = (Sequence(), nil, Sequence())
    for (number, captured) in values.enumerated() {
      if let known = captured.plain ?? captured.name.flatMap(value) {
        guard sequence.add(known, named: "[\(number)]") else { return nil }
      } else if unknown == nil, sequence.isExact || sequence.size == 0 {
        (front, unknown, sequence) = (sequence, number, Sequence())
      } else {
        return nil
      }
    }
    guard !values.isEmpty else { return nil }
    (self.front, self.unknown, back) = (front, unknown, sequence)
    isContainer = unknown.map { values[$0].isExistential } ?? false
  }

  /// What is known of the places of values as long as there are no types in front of them, and no value is
  /// of unknown size.
  var fields: [SwiftField] {
    (unknown == nil ? back : isContainer ? front : Sequence()).fields.map {
      SwiftField(name: $0.name, offset: $0.offset + header, ownership: $0.ownership)
    }
  }

  /// Where references are that do not hold what they point to, in bytes from the end of the block's last word.
  var unownedFromEnd: [UInt64] { placesFromEnd { $0.isUnowned } }

  /// Where words are that only identify objects, in bytes from the end of the block's last word.
  var identifiersFromEnd: [UInt64] { placesFromEnd { $0.ownership == .identifier } }

  /// Where references are that their objects count, in bytes from the end of the block's last word.
  var countedFromEnd: [UInt64] {
    let end = (back.size + 7) & ~7
    return back.fields.compactMap { field in
      field.countedReference.map { end - field.offset - $0 }
    }
  }

  /// Where words begin that are no pointers, in bytes from the end of the block; none where it is not known whether
  /// the values end with the block.
  var numbersFromEnd: [UInt64] {
    guard back.isExact, back.size % 8 == 0 else { return [] }
    return back.fields.compactMap(\.numberOffset).map { back.size - $0 }
  }

  private func placesFromEnd(of isMeant: (SwiftField) -> Bool) -> [UInt64] {
    let end = (back.size + 7) & ~7
    return back.fields.filter(isMeant).map { end - $0.offset }
  }

  /// What an offset in a block is called: `[1].owner`, `[1]`, in boxes `value.owner`, `value`.
  ///
  /// - Parameters:
  ///   - offset: From the beginning.
  ///   - size: How many bytes were requested for the block.
  /// - Returns: nil in front of the values, and where the block has another size than they need.
  func name(at offset: UInt64, ofBlockOf size: UInt64) -> String? {
    guard size >= header + back.size - (back.isExact ? 0 : min(back.size, 7)) else {
      return nil
    }
    let end = size - min(size, back.size)
    let start = back.isExact ? end : (end + 7) & ~7
    guard start % 8 == 0, start >= header else { return nil }
    if offset >= start { return Self.name(at: offset - start, in: back, isBox: isBox) }
    guard let unknown, offset >= header else { return nil }
    let place = offset - header
    // With types in front of them, the values in front of one of unknown size may be anywhere.
    guard isContainer || front.fields.isEmpty else { return nil }
    return place < front.size
      ? Self.name(at: place, in: front, isBox: isBox) : isBox ? "value" : "[\(unknown)]"
  }

  private static func name(at offset: UInt64, in values: Sequence, isBox: Bool) -> String? {
    let name = values.fields.last { $0.offset <= offset }?.name
    return isBox ? name.map { "value" + $0.dropFirst("[0]".count) } : name
  }

  /// A value by its type.
  private struct Value {
    /// The whole name of the type; nil where it has none.
    var name: String?
    /// What its mangled name tells; nil where that says nothing of its size.
    var plain: Sequence?
    var isExistential = false
  }

  private static func values(of type: BlockType) -> [Value] {
    switch type.kind {
    case .swiftBox, .swiftError: [Value(name: type.name)]
    case .swiftCaptures:
      SwiftCaptureLayout.types(type.name).map { mangled in
        let name = SwiftTypeNames.wholeName(ofCapture: mangled)
        return Value(
          name: name, plain: Sequence(mangled[...]),
          isExistential: mangled.hasSuffix("_p") || mangled.hasSuffix("_pSg"))
      }
    default: []
    }
  }

  private static func isBox(_ type: BlockType, _ values: [Value]) -> Bool {
    type.kind == .swiftBox || type.kind == .swiftError
      || values.count == 1 && SwiftTypeNames.ofCaptures(type.name).hasPrefix("Box<")
  }

  /// The whole names of the types of which a block's type says that they lie in it, those in tuples too.
  static func types(in type: BlockType) -> [String] {
    values(of: type).filter { $0.plain == nil }.compactMap(\.name).flatMap(parts)
  }

  /// The types in a tuple and in tuples in it; of other types themselves.
  static func parts(_ name: String) -> [String] { parts(name, depth: 0) }

  private static func parts(_ name: String, depth: Int) -> [String] {
    guard depth < deepestTuple, case .tuple(let elements) = SwiftTypeParts(name[...]).form else {
      return [name]
    }
    return elements.flatMap { parts(String($0.type), depth: depth + 1) }
  }

  /// Tuples are not nested deeper; only a damaged trace says so.
  private static let deepestTuple = 16
}

extension SwiftCapturedValues.Sequence {
  /// A captured value whose mangled type tells how large it is; nil for others.
  fileprivate init?(_ mangled: Substring) {
    guard let size = SwiftCaptureLayout.size(of: mangled) else { return nil }
    self.init(
      size: size, ownership: SwiftCaptureLayout.isUnowned(mangled) ? .unowned : .strong,
      countedReference: SwiftCaptureLayout.countedReference(in: mangled))
  }
}

extension SwiftElements {
  /// A tuple.
  init(_ tuple: SwiftCapturedValues.Sequence) {
    let stride = (tuple.size + tuple.alignment - 1) & ~(tuple.alignment - 1)
    self.init(stride: max(1, stride), fields: tuple.fields)
  }
}
