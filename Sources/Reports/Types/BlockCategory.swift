import Symbolication
import TraceReader

/// What a block is called in reports: its type, or `Malloc-16` or `Pool-16` where that is not known.
public struct BlockCategory: Hashable, Sendable {
  /// What the name says.
  public enum Kind: Sendable, Hashable {
    /// The type of the block.
    case type(TypeName.Language)
    /// The function that called the allocator, such as `malloc in parse`.
    case call
    /// Nothing but the size.
    case size(SizeClass)
  }

  /// The name to print.
  public var name: String
  /// The name in full, when it says more.
  public var fullName: String?
  /// What the name says.
  public var kind: Kind
  /// Path of the image that defines the type.
  public var imagePath: String?

  /// The category of blocks of which only the size is known.
  ///
  /// - Parameters:
  ///   - sizeClass: Their size.
  ///   - operation: What allocated them: blocks of the program's own allocators are called `Pool-16`.
  public init(_ sizeClass: SizeClass, _ operation: Operation = .malloc) {
    name = operation.isOfAnnounced ? sizeClass.poolName : sizeClass.name
    kind = .size(sizeClass)
  }

  /// The category of blocks of a type.
  public init(_ type: TypeName) {
    name = type.short
    fullName = type.full == type.short ? nil : type.full
    kind = .type(type.language)
    imagePath = type.imagePath
  }

  /// The category of blocks of which only the caller is known.
  public init(caller: String) {
    name = caller
    kind = .call
  }

  /// Whether it is a Swift type.
  var isSwift: Bool { kind == .type(.swift) }

  /// Whether blocks count their references: not what the Swift runtime has for itself, where the words that objects have
  /// these in are not in use, and something may have been left.
  var hasSwiftCounts: Bool { isSwift && !TypeName.swiftRuntimeBlocks.contains(name) }

  /// Whether it is a type, not only a size or a caller.
  var isType: Bool {
    if case .type = kind { return true }
    return false
  }

  /// The greatest requested size, where that is what the category is about.
  public var greatestSize: UInt64? {
    if case .size(let sizeClass) = kind { return sizeClass.bytes }
    return nil
  }
}

extension BlockCategory: Comparable {
  /// Types by name, then callers by name, then sizes.
  public static func < (left: BlockCategory, right: BlockCategory) -> Bool {
    if case .size(let first) = left.kind, case .size(let second) = right.kind {
      return (first, left.name) < (second, right.name)
    }
    return (left.rank, left.name, left.imagePath ?? "")
      < (right.rank, right.name, right.imagePath ?? "")
  }

  private var rank: Int {
    switch kind {
    case .type: 0
    case .call: 1
    case .size: 2
    }
  }
}
