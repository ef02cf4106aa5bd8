/// A node of a container of libstdc++, by what it is called: `std::map<int, app::Node> node`.
///
/// It begins with the links of the container; then comes the value, of a map a pair of key and value, and in hash
/// tables perhaps the hash. A `std::deque` has values alone in blocks of up to 512 bytes, and the addresses of these in
/// another one.
/// Source: `bits/stl_tree.h`, `bits/stl_list.h`, `bits/forward_list.h`, `bits/hashtable_policy.h` and `bits/stl_deque.h`
/// of libstdc++.
struct CxxNode {
  /// What is the same for all containers of a template.
  private struct Form {
    /// Bytes in front of the value.
    var header: UInt64
    var isMap = false
    /// How many arguments there are at most without an allocator of the program's, which may put something in front.
    var mostArguments: Int
    /// How many bytes there may be behind the value.
    var mostBehind: UInt64 = 0
    /// Whether there are as many values as fit into 512 bytes, or one that does not.
    var isDeque = false
  }

  private let form: Form
  private let container: String
  /// The type of the value.
  private let value: String

  /// Takes the name of a block apart; nil for other blocks.
  init?(_ type: String) {
    guard let suffix = Self.suffixes.first(where: type.hasSuffix) else { return nil }
    container = String(type.dropLast(suffix.count))
    let template = ContainerPart.withoutPMR(container.prefix(before: "<"))
    guard let form = Self.forms[template],
      form.isDeque == (suffix == Self.dequeSuffix)
    else { return nil }
    self.form = form
    let arguments = CxxMember.arguments(of: container)
    guard (form.isMap ? 2 : 1)...form.mostArguments ~= arguments.count else { return nil }
    value = form.isMap ? "std::pair<\(arguments[0]) const, \(arguments[1])>" : arguments[0]
  }

  /// The structures whose members are asked for.
  var structures: [String] { value.hasSuffix("*") ? [container] : [container, value] }

  /// The member at an offset of the node: `key`, `value.next`, `element.next` in lists and sets.
  ///
  /// - Returns: nil for links, and where the type of the value is not known.
  func member<Layout: MemberLayout>(
    at offset: UInt64, ofBlockOf size: UInt64, _ find: (String) -> Layout?
  ) -> BlockMember? {
    // Other libraries have other nodes.
    guard offset >= form.header, find(container) != nil else { return nil }
    if form.isDeque { return element(at: offset, ofBlockOf: size, find) }
    let (place, room) = (offset - form.header, size - min(size, form.header))
    guard !value.hasSuffix("*") else {
      return place == 0 ? BlockMember(name: "element") : nil
    }
    guard let layout = find(value), place < layout.size, layout.size <= room,
      room - layout.size <= form.mostBehind, let member = layout.content(at: place)
    else { return nil }
    return form.isMap ? Self.member(ofPair: member) : member.within("element")
  }

  private func element<Layout: MemberLayout>(
    at offset: UInt64, ofBlockOf size: UInt64, _ find: (String) -> Layout?
  ) -> BlockMember? {
    guard !value.hasSuffix("*") else {
      return size == Self.dequeBlock ? BlockMember(name: "element") : nil
    }
    guard let layout = find(value), layout.size > 0,
      size == max(1, Self.dequeBlock / layout.size) &* layout.size
    else { return nil }
    return layout.content(at: offset % layout.size)?.within("element")
  }

  private static func member(ofPair member: BlockMember) -> BlockMember? {
    if member.name.isEmpty { return member.isUnused ? member : nil }
    for (own, name) in [("first", "key"), ("second", "value")] where member.name.hasPrefix(own) {
      return member.named(name + member.name.dropFirst(own.count))
    }
    return nil
  }

  private static let dequeSuffix = " storage"
  private static let suffixes = [" node", dequeSuffix]
  private static let dequeBlock: UInt64 = 512

  private static let forms: [String: Form] = [
    "std::map": Form(header: 32, isMap: true, mostArguments: 3),
    "std::multimap": Form(header: 32, isMap: true, mostArguments: 3),
    "std::set": Form(header: 32, mostArguments: 2),
    "std::multiset": Form(header: 32, mostArguments: 2),
    "std::deque": Form(header: 0, mostArguments: 1, isDeque: true),
    "std::list": Form(header: 16, mostArguments: 1),
    "std::forward_list": Form(header: 8, mostArguments: 1),
    "std::unordered_map": Form(header: 8, isMap: true, mostArguments: 4, mostBehind: 8),
    "std::unordered_multimap": Form(header: 8, isMap: true, mostArguments: 4, mostBehind: 8),
    "std::unordered_set": Form(header: 8, mostArguments: 3, mostBehind: 8),
    "std::unordered_multiset": Form(header: 8, mostArguments: 3, mostBehind: 8),
  ]
}
