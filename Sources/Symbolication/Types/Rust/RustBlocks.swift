/// Where values of a Rust program lie in the blocks of the standard library, by what these are called.
extension MemberPlace {
  /// A place in a block of Rust as one in the program's own structure, or in an array of these; nil where the block
  /// holds no values of the program, or has its own words there.
  ///
  /// - Parameters:
  ///   - type: The name of the block: `Rc<app::Node>`, `Vec<app::Node> storage`.
  ///   - size: Requested bytes of the block.
  ///   - offset: Where in the block.
  public init?(rust type: String, size: UInt64, offset: UInt64) {
    if RustNode(type) != nil {
      self.init(type: type, isCxx: true, size: size, offset: offset)
      return
    }
    guard let block = RustBlock(type), offset >= block.header else { return nil }
    self.init(
      type: block.isArray ? "\(block.value)[]" : block.value, isCxx: true,
      size: size - min(size, block.header), offset: offset - block.header)
  }
}

/// What a block of the standard library holds.
private struct RustBlock {
  /// The type of the values, as ``MemberPlace`` has it of pointers.
  let value: String
  /// Bytes in front of the first one.
  let header: UInt64
  let isArray: Bool

  /// Two counts in front of what `Rc` and `Arc` hold (`RcInner` in `alloc/src/rc.rs`, which has the layout of C).
  private static let owners: [(prefix: String, suffix: String, header: UInt64, isArray: Bool)] = [
    ("Rc<", ">", 16, false), ("Arc<", ">", 16, false), ("Box<", ">", 0, false),
    ("Vec<", "> storage", 0, true), ("VecDeque<", "> storage", 0, true),
    ("BinaryHeap<", "> storage", 0, true),
  ]
  private static let pointers = ["Rc<", "Arc<", "Box<"]
  private static let unsized = ["dyn ", "[", "str"]

  init?(_ type: String) {
    guard
      let owner = Self.owners.first(where: {
        type.hasPrefix($0.prefix) && type.hasSuffix($0.suffix)
      })
    else { return nil }
    let value = type.dropFirst(owner.prefix.count).dropLast(owner.suffix.count)
    let element = Self.element(of: value)
    header = owner.header
    isArray = owner.isArray || element != nil
    self.value = Self.pointer(element ?? value) ?? String(element ?? value)
  }

  /// `T` of `[T]` and `[T; 3]`; nil for other types.
  private static func element(of type: Substring) -> Substring? {
    guard type.hasPrefix("["), type.hasSuffix("]") else { return nil }
    let inner = type.dropFirst().dropLast()
    guard let end = inner.lastIndex(of: ";") else { return inner }
    return inner[end...].dropFirst().allSatisfy { $0.isNumber || $0 == " " } ? inner[..<end] : inner
  }

  /// What values are that are single words which point to others; nil for other values.
  private static func pointer(_ type: Substring) -> String? {
    var type = type
    // None of them is null, which stands for the case without a value.
    for option in ["core::option::Option<", "Option<"] where type.hasPrefix(option) {
      type = type.dropFirst(option.count).dropLast()
    }
    for namespace in ["alloc::rc::", "alloc::sync::", "alloc::boxed::"] {
      if type.hasPrefix(namespace) { type.removeFirst(namespace.count) }
    }
    let isWeak = type.hasPrefix(RustLibraries.weakPointer)
    guard isWeak || pointers.contains(where: { type.hasPrefix($0) }) else { return nil }
    let target = type.drop { $0 != "<" }.dropFirst()
    if unsized.contains(where: { target.hasPrefix($0) }) { return nil }
    return isWeak ? MemberPlace.weakPointer : "*"
  }
}
