import Symbolication
import TraceReader

/// What a block is called in reports: its type, or `Malloc-16` where that is not known.
public struct BlockCategory: Hashable, Sendable {
  /// What the name says.
  public enum Kind: Sendable, Hashable {
    /// The type of the block.
    case type(TypeName.Language)
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
  public init(_ sizeClass: SizeClass) {
    name = sizeClass.name
    kind = .size(sizeClass)
  }

  /// The category of blocks of a type.
  public init(_ type: TypeName) {
    name = type.short
    fullName = type.full == type.short ? nil : type.full
    kind = .type(type.language)
    imagePath = type.imagePath
  }

  /// The greatest requested size, where that is what the category is about.
  public var greatestSize: UInt64? {
    if case .size(let sizeClass) = kind { return sizeClass.bytes }
    return nil
  }
}

extension BlockCategory: Comparable {
  /// Types by name, then sizes.
  public static func < (left: BlockCategory, right: BlockCategory) -> Bool {
    switch (left.kind, right.kind) {
    case (.size(let first), .size(let second)): first < second
    case (.size, .type): false
    case (.type, .size): true
    case (.type, .type):
      (left.name, left.imagePath ?? "") < (right.name, right.imagePath ?? "")
    }
  }
}
