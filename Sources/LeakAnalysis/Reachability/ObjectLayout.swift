/// What is known of the objects that begin with one word, beyond what their memory shows.
public struct ObjectLayout: Sendable, Hashable {
  /// How many of their bytes can hold anything, when they are allocated with no more than that;
  /// nil where the allocator's slack behind them may be in use.
  public var size: UInt64?
  /// Where `unowned` references are, in bytes from the beginning.
  public var unownedOffsets: [UInt64]
  /// Where more of them are, in bytes from the end of what was requested.
  public var unownedFromEnd: [UInt64]
  /// Where existential containers are: three words for a value, and its metadata.
  public var existentialOffsets: [UInt64]
  /// Where numbers are that may look like pointers.
  public var numberOffsets: [UInt64]
  /// Where more of them are, in bytes from the end of what was requested.
  public var numbersFromEnd: [UInt64]
  /// The form of the table of buckets in them; nil where they are none.
  public var table: SwiftTable.Form?
  /// Whether the keys of the table, or the elements of a set, name objects without holding them.
  public var hasIdentifiersAsKeys: Bool
  /// Whether they are what a program thinks of, and no storage, closure or box behind it.
  public var isInstance: Bool
  /// Whether they are the elements of an array.
  public var isArray: Bool

  /// Describes objects; without arguments nothing is known of them.
  public init(
    size: UInt64? = nil, unownedOffsets: [UInt64] = [], unownedFromEnd: [UInt64] = [],
    existentialOffsets: [UInt64] = [], numberOffsets: [UInt64] = [],
    numbersFromEnd: [UInt64] = [], table: SwiftTable.Form? = nil,
    hasIdentifiersAsKeys: Bool = false, isInstance: Bool = false, isArray: Bool = false
  ) {
    self.size = size
    self.unownedOffsets = unownedOffsets
    self.unownedFromEnd = unownedFromEnd
    self.existentialOffsets = existentialOffsets
    self.numberOffsets = numberOffsets
    self.numbersFromEnd = numbersFromEnd
    self.table = table
    self.hasIdentifiersAsKeys = hasIdentifiersAsKeys
    self.isInstance = isInstance
    self.isArray = isArray
  }
}
