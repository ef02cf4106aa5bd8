/// A stored property of a generic structure of Swift, whose size may depend on the arguments of this.
public struct SwiftMember: Sendable, Hashable {
  /// What is known without the arguments: the property itself, and behind it those of a structure that it is, with
  /// offsets from its beginning.
  public var fields: [SwiftField]
  /// How many bytes it takes; nil where that depends on the arguments.
  public var size: UInt64?
  /// On a multiple of what it lies, where its size is known.
  public var alignment: UInt64
  /// The name of its type, in which parameters are called `A`, `B` and so on; nil where that is not known.
  public var typeName: String?

  /// Describes a property.
  public init(
    fields: [SwiftField], size: UInt64? = nil, alignment: UInt64 = 8, typeName: String? = nil
  ) {
    self.fields = fields
    self.size = size
    self.alignment = alignment
    self.typeName = typeName
  }

  /// The name in the source.
  public var name: String { fields.first?.name ?? "" }
}
