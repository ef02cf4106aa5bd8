import TraceReader

/// A stored property of a Swift class.
public struct SwiftField: Sendable, Hashable {
  /// How a property refers to an object.
  public enum Ownership: Sendable, Hashable {
    /// Holds it, or is no reference at all.
    case strong
    /// `weak`: points to the object's side table.
    case weak
    /// `unowned` or `unowned(unsafe)`: points to the object and does not hold it.
    case unowned
    /// An `ObjectIdentifier`: the address of an object, which it does not hold, and which nobody can follow.
    case identifier
    /// Holds whatever conforms to a protocol, with its metadata three words behind the property's
    /// beginning, unless the protocol is one of classes only.
    case existential
    /// Is a number of less than a word, an enum without payloads, or an optional one of these.
    case number
    /// Is an optional number of a word, with a tag in the word behind it.
    case optionalNumber
  }

  /// The name in the source.
  public var name: String
  /// Where it is in an object, in bytes.
  public var offset: UInt64
  /// How it refers to an object.
  public var ownership: Ownership
  /// Where the word is, from its beginning, that is a reference which its object counts, or null; nil where
  /// none is known for certain.
  public var countedReference: UInt64?
  /// The name of its type where that is one of which the file of the class alone does not tell what lies in it, such
  /// as a generic one; the parameters of the class are called `A`, `B` and so on.
  public var typeName: String?

  /// Whether it points to an object as far as its word tells, and does not hold it.
  public var isUnowned: Bool { ownership == .unowned || ownership == .identifier }

  /// Where a word begins in an object that is no pointer, although it may look like one: in the bytes
  /// behind a small number, or a tag, stands what was there before.
  public var numberOffset: UInt64? {
    switch ownership {
    case .number: offset % 8 == 0 ? offset : nil
    case .optionalNumber: offset % 8 == 0 ? offset &+ 8 : nil
    case .strong, .weak, .unowned, .identifier, .existential: nil
    }
  }

  /// Makes a field.
  public init(
    name: String, offset: UInt64, ownership: Ownership = .strong, countedReference: UInt64? = nil,
    typeName: String? = nil
  ) {
    self.name = name
    self.offset = offset
    self.ownership = ownership
    self.countedReference = countedReference
    self.typeName = typeName
  }

  /// What a property in another one is called; one without a name is the other one itself.
  static func path(_ outer: String, _ inner: String) -> String {
    outer.isEmpty || inner.isEmpty || inner.hasPrefix("[") ? outer + inner : "\(outer).\(inner)"
  }

  /// What of the name of a property in a structure means something outside of the module that defines the structure: of
  /// `head.owner` all, of `slots._storage.owner` only `slots`.
  static func publicPart(of inner: String) -> String {
    inner.split(separator: ".", omittingEmptySubsequences: false).prefix { !isInternal($0) }
      .joined(separator: ".")
  }

  /// Whether a property is one that a module keeps for itself, as its name says.
  static func isInternal(_ name: some StringProtocol) -> Bool { name.hasPrefix("_") }

  /// Whether a module is one of the standard library, whose structures have no names in reports for what lies in them.
  static func isOfRuntime(_ module: some StringProtocol) -> Bool {
    module == "Swift" || module == "Observation" || module == "_Concurrency"
  }

  /// What is left of the name of a property in another one: `owner` of `slots[2].owner` in `slots[2]`.
  static func path(_ whole: String, within outer: String) -> String {
    let inner = whole.dropFirst(outer.count)
    return String(inner.hasPrefix(".") ? inner.dropFirst() : inner)
  }
}

/// A Swift class whose stored properties are looked for.
public struct SwiftClassReference: Sendable, Hashable {
  /// Its descriptor.
  public var descriptor: Address
  /// Its metadata; of a generic class perhaps in no image.
  public var metadata: Address
  /// Where its stored properties are, where the trace says it; else the metadata in the file do.
  public var offsets: [UInt64]

  /// Names a class.
  public init(descriptor: Address, metadata: Address, offsets: [UInt64] = []) {
    self.descriptor = descriptor
    self.metadata = metadata
    self.offsets = offsets
  }
}
