/// What lies at a place in a block of C, C++ or Rust.
public struct BlockMember: Hashable, Sendable {
  /// `next`, `pair.first`, `slots[2]`.
  public var name: String
  /// Whether it does not keep what it points to: `std::weak_ptr`.
  public var isWeak: Bool
  /// Whether what it points to counts it, and goes with the last one: `Rc` and `Arc` of Rust.
  public var isCounted: Bool
  /// Whether no pointer can be there, and what looks like one was there before the block.
  ///
  /// So it is in a gap between members, which has no name, in a number of a few bytes, in the characters of a text.
  public var isUnused: Bool

  /// Makes a member.
  public init(
    name: String = "", isWeak: Bool = false, isCounted: Bool = false, isUnused: Bool = false
  ) {
    (self.name, self.isWeak, self.isCounted) = (name, isWeak, isCounted)
    self.isUnused = isUnused
  }

  /// The same by another name.
  func named(_ name: String) -> BlockMember {
    BlockMember(name: name, isWeak: isWeak, isCounted: isCounted, isUnused: isUnused)
  }

  /// The same as a member of a value: `[2].next`, `[2]` where it has no name of its own.
  func within(_ value: String) -> BlockMember {
    if isUnused, name.isEmpty { return self }
    return named(name.isEmpty ? value : "\(value).\(name)")
  }
}

/// A place in a block of C or C++ whose type is known.
public struct MemberPlace: Hashable, Sendable {
  /// The whole name of the type.
  public var type: String
  /// Whether the type is one of C++.
  public var isCxx: Bool
  /// Requested bytes of the block.
  public var size: UInt64
  /// Where in the block.
  public var offset: UInt64

  /// Makes a place.
  public init(type: String, isCxx: Bool, size: UInt64, offset: UInt64) {
    (self.type, self.isCxx, self.size, self.offset) = (type, isCxx, size, offset)
  }

  /// The member there: `next`, of an array of structures, or the storage of a vector of them, `[2].next`, of pointers
  /// `[2]`.
  ///
  /// - Parameter find: The members of a type.
  /// - Returns: nil where the type is not known.
  func member<Layout: MemberLayout>(_ find: (String) -> Layout?) -> BlockMember? {
    if let element = Self.element(of: type) { return member(ofElement: element, find) }
    if let node = RustNode(type) { return node.member(at: offset, ofBlockOf: size, find) }
    if let node = CxxNode(type) { return node.member(at: offset, ofBlockOf: size, find) }
    let (type, base) = (Self.sharedObject(type) ?? (type, 0))
    return offset < base ? nil : find(type)?.content(at: offset - base)
  }

  /// The structure whose members are asked for in blocks of a type; nil where there is none.
  static func structure(in type: String) -> String? {
    guard let element = element(of: type) else { return sharedObject(type)?.type ?? type }
    return element.hasSuffix("*") ? nil : element
  }

  /// The structures that are asked for in blocks of a container of C++.
  static func structures(in type: String) -> [String] {
    CxxNode(type)?.structures ?? structure(in: type).map { [$0] } ?? []
  }

  /// The type of the elements of an array, and of the storage of a vector; nil for other types.
  private static func element(of type: String) -> String? {
    if type.hasSuffix("[]") { return String(type.dropLast(2)) }
    guard vectors.contains(where: type.hasPrefix), type.hasSuffix(vectorSuffix) else { return nil }
    // With an allocator of its own it has two.
    let arguments = CxxMember.arguments(of: String(type.dropLast(vectorSuffix.count - 1)))
    guard arguments.count == 1, let value = arguments.first else { return nil }
    let isOwned = value.hasPrefix("std::unique_ptr<") && CxxMember.arguments(of: value).count == 1
    return isOwned ? ownedPointer : value
  }

  private static let vectors = ["std::vector<", "std::pmr::vector<"]
  private static let vectorSuffix = "> storage"
  /// What stands for an element that is a `std::unique_ptr` without a deleter of its own.
  private static let ownedPointer = "*"

  private func member<Layout: MemberLayout>(
    ofElement type: String, _ find: (String) -> Layout?
  ) -> BlockMember? {
    if type.hasSuffix("*") {
      guard offset % 8 == 0 else { return nil }
      return BlockMember(name: "[\(offset / 8)]", isWeak: type == Self.weakPointer)
    }
    guard let members = find(type) else { return nil }
    // An array of C++ whose elements have destructors begins with their number.
    let base = size % members.size
    guard base == 0 || (isCxx && base == 8), offset >= base else { return nil }
    let (index, place) = (offset - base).quotientAndRemainder(dividingBy: members.size)
    return members.content(at: place)?.within("[\(index)]")
  }

  /// What stands for the type of an element that is a `Weak` of Rust.
  static let weakPointer = "Weak<>*"

  /// What `std::make_shared` allocates: the counts of the references, and behind these the object.
  private static func sharedObject(_ type: String) -> (type: String, base: UInt64)? {
    guard type.hasPrefix(sharedBlock) else { return nil }
    var depth = 0
    let object = type.dropFirst(sharedBlock.count).prefix { character in
      switch character {
      case "<", "(": depth += 1
      case ">", ")": depth -= 1
      case ",": return depth > 0
      default: break
      }
      return depth >= 0
    }
    return (String(object), 16)
  }

  private static let sharedBlock = "std::_Sp_counted_ptr_inplace<"
}
