/// A block in which a map or set of Rust has several elements: `HashMap<u64, app::Node> storage`,
/// `BTreeMap<u64, app::Node> node`.
///
/// ```
/// table of a HashMap    … element 1, element 0, as many control bytes as there is room for elements, 16 more
/// node of a BTreeMap    the structure LeafNode; of one with nodes below it InternalNode, in which data is one
/// ```
/// Source: `src/raw.rs` of hashbrown, `alloc/src/collections/btree/node.rs` of Rust.
struct RustNode {
  private let isTable: Bool
  private let isMap: Bool
  /// What an element is, or the arguments of a node.
  private let key, value: String

  /// Takes the name of a block apart; nil for other blocks.
  init?(_ type: String) {
    guard type.hasSuffix("> storage") || type.hasSuffix("> node"),
      let end = type.lastIndex(of: " ")
    else { return nil }
    let arguments = RustMember.arguments(of: String(type[..<end]))
    switch (type.prefix { $0 != "<" }, arguments.count) {
    case ("HashMap", 2): (isTable, isMap) = (true, true)
    case ("HashSet", 1): (isTable, isMap) = (true, false)
    case ("BTreeMap", 2): (isTable, isMap) = (false, true)
    case ("BTreeSet", 1): (isTable, isMap) = (false, false)
    default: return nil
    }
    key = arguments[0]
    value = isMap ? arguments[1] : isTable ? "()" : "SetValZST"
  }

  /// The member at an offset of the block: `key`, `value.next`, `element.next` in sets.
  ///
  /// - Returns: nil for links, and where the type of the elements is not known.
  func member<Layout: MemberLayout>(
    at offset: UInt64, ofBlockOf size: UInt64, _ find: (String) -> Layout?
  ) -> BlockMember? {
    let found =
      isTable
      ? tableMember(at: offset, ofBlockOf: size, find) : nodeMember(at: offset, size, find)
    guard let found, let part = found.name.first else { return nil }
    let own = part == "1" || part == "v" ? "value" : isMap ? "key" : "element"
    return found.named(own + found.name.dropFirst(1))
  }

  /// The member of an element, `0.name` in keys and `1.name` in values.
  private func tableMember<Layout: MemberLayout>(
    at offset: UInt64, ofBlockOf size: UInt64, _ find: (String) -> Layout?
  ) -> BlockMember? {
    guard let element = find("(\(key), \(value))"), element.size > 0,
      let end = Self.endOfElements(of: element.size, inTableOf: size), offset < end
    else { return nil }
    let behind = (end - offset - 1) % element.size
    return element.member(at: element.size - 1 - behind)
  }

  /// Where the control bytes begin in a table of as many bytes: as many as there are elements, a power of two.
  private static func endOfElements(of stride: UInt64, inTableOf size: UInt64) -> UInt64? {
    guard size < 1 << 40, stride < size else { return nil }
    var count: UInt64 = 1
    while count * stride < size {
      let end = (count * stride + groupSize - 1) & ~(groupSize - 1)
      if end + count + groupSize == size { return end }
      count *= 2
    }
    return nil
  }

  private static let groupSize: UInt64 = 16

  /// The member of a node, without the place in the arrays of keys and values: `k.name`, `v.name`.
  private func nodeMember<Layout: MemberLayout>(
    at offset: UInt64, _ size: UInt64, _ find: (String) -> Layout?
  ) -> BlockMember? {
    let node = ["LeafNode", "InternalNode"].compactMap { find("\($0)<\(key), \(value)>") }
      .first { $0.size == size }
    guard let member = node?.member(at: offset) else { return nil }
    let name = member.name.hasPrefix("data.") ? member.name.dropFirst(5) : member.name[...]
    for array in ["keys[", "vals["] where name.hasPrefix(array) {
      return member.named(String(array.prefix(1)) + name.drop { $0 != "]" }.dropFirst())
    }
    return nil
  }
}
