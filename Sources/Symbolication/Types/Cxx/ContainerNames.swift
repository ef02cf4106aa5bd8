/// What the C++ standard library allocates for a program, named after the container it is for.
public enum ContainerNames {
  /// The name of what a stack allocated: `std::vector<int> storage`, `std::map<int, Foo> node`.
  ///
  /// The innermost container counts: what a vector of vectors copies is the inner one's storage.
  /// Where only the inner parts of one are left of it, the name is put together from their
  /// arguments.
  ///
  /// - Parameter frames: The frames between the allocator and the program's code, leaf first,
  ///   inlined ones included.
  /// - Returns: nil when none of them belongs to a container.
  public static func name(of frames: some Sequence<SymbolicatedFrame>) -> TypeName? {
    var part: String?
    var family: ContainerPart.Family?
    var isBucketArray = false
    for frame in frames {
      guard let base = frame.function?.base, let member = CxxMember(base) else { continue }
      if part == nil, makers.contains(where: member.function.hasPrefix) {
        return CxxMember.arguments(of: member.function).first.map { name(arrayName($0), nil) }
      }
      if part == nil, let counts = sharedCounts(member) { return name(counts, nil) }
      isBucketArray = isBucketArray || TextSearch.holds(member.function, "_bucket")
      if let container = ContainerPart.container(named: member.template) {
        guard family == nil || family == container.family else { break }
        return name(member.type, isBucketArray ? "buckets" : container.suffix)
      }
      if let inner = ContainerPart(member), family == nil || family == inner.family {
        (family, part) = (inner.family, inner.container)
      }
      // What a value allocates while a container makes it is not the container's.
      if part == nil, member.isConstructor, !sharedOwners.contains(member.template) { return nil }
    }
    guard let family, let part else { return nil }
    return name(part, isBucketArray ? "buckets" : family.suffix)
  }

  private static let makers = ["make_unique<", "make_unique_for_overwrite<"]

  /// What a container of the program or of another library has from an allocator of the standard library: `Foo`
  /// of `std::allocator<Foo>`.
  ///
  /// - Parameter frames: As of ``name(of:)``, which has found no container.
  /// - Returns: nil where the allocator does not say of what.
  static func elementType(of frames: some Sequence<SymbolicatedFrame>) -> TypeName? {
    for frame in frames {
      guard let base = frame.function?.base, let member = CxxMember(base),
        member.function == "allocate", allocators.contains(member.template),
        let element = CxxMember.arguments(of: member.type).first
      else { continue }
      return bytes.contains(element) ? nil : name(element, nil)
    }
    return nil
  }

  private static let allocators: Set = [
    "std::allocator", "std::__new_allocator", "std::pmr::polymorphic_allocator",
    "__gnu_cxx::new_allocator", "__gnu_cxx::malloc_allocator", "boost::container::new_allocator",
  ]
  /// Of these, it is memory for anything.
  private static let bytes: Set = ["char", "unsigned char", "signed char", "char8_t", "std::byte"]

  /// Those whose constructors allocate what `sharedCounts` names.
  private static let sharedOwners: Set = [
    "std::shared_ptr", "std::__shared_ptr", "std::__shared_count",
  ]

  /// What counts the owners of a `std::shared_ptr`: with the object, or for one that was there before.
  private static func sharedCounts(_ member: CxxMember) -> String? {
    guard let type = CxxMember.arguments(of: member.function).first, !type.hasSuffix("]") else {
      return nil
    }
    switch (member.template, member.function.prefix(before: "<")) {
    case ("std", "make_shared"), ("std", "allocate_shared"):
      return "std::_Sp_counted_ptr_inplace<\(type)>"
    case ("std::__shared_count", "__shared_count") where type.hasSuffix("*"):
      return "std::_Sp_counted_ptr<\(type)>"
    default: return nil
    }
  }

  /// Whether a class is the base of what counts the owners of a `std::shared_ptr`, which it is of all kinds.
  public static func isSharedBase(_ name: String) -> Bool {
    name.hasPrefix("std::_Sp_counted_base<")
  }

  /// Whether what a name stands for begins with one of the values that a container holds.
  ///
  /// So does the storage of a vector. What `std::any` allocates is nothing but the value.
  public static func beginsWithValue(_ name: String) -> Bool {
    name.hasSuffix(" \(ContainerPart.Family.vector.suffix)") && !name.hasPrefix("std::any ")
  }

  /// Whether a name stands for the storage of a `std::vector` or `std::deque`, and its elements may hold pointers:
  /// where they are bytes, programs put anything there, also behind the last one.
  public static func mayHoldPointers(_ name: String) -> Bool {
    let container = ContainerPart.withoutPMR(name)
    guard container.hasSuffix("> storage"),
      container.hasPrefix("std::vector<") || container.hasPrefix("std::deque<")
    else { return false }
    let element = CxxMember.arguments(of: String(container.dropLast(" storage".count))).first
    return element.map { !bytes.contains($0) } ?? false
  }

  /// `P[]` of `P []`, as the demangler writes it: what `new P[n]` allocates has the same name.
  private static func arrayName(_ type: String) -> String {
    type.hasSuffix(" []") ? type.dropLast(3) + "[]" : type
  }

  private static func name(_ type: String, _ suffix: String?) -> TypeName {
    let text = suffix.map { "\(type) \($0)" } ?? type
    return TypeName(short: text, full: text, language: .cxx)
  }
}

/// A function of a C++ class, taken apart.
struct CxxMember {
  /// The class: `std::vector<int>`.
  var type: String
  /// The class without its arguments: `std::vector`.
  var template: String
  /// The function: `push_back`.
  var function: String

  /// Whether the function is a constructor: `std::thread::thread<f>`.
  var isConstructor: Bool {
    template.hasSuffix("::\(function.prefix(before: "<"))")
  }

  /// Takes a name without parameters apart; nil when it has no class or namespace.
  init?(_ name: String) {
    var scanner = TextScanner(name)
    var end: Int?
    while let byte = scanner.current {
      if TextScanner.isOpening(byte) {
        _ = scanner.skipGroup()
      } else if scanner.skip("::") {
        end = scanner.position - 2
      } else {
        scanner.position += 1
      }
    }
    guard let end else { return nil }
    type = String(nameBytes: scanner.bytes[..<end])
    template = type.prefix(before: "<")
    function = String(nameBytes: scanner.bytes[(end + 2)...])
  }

  /// The template arguments of a name: `std::pair<int const, Foo>` gives `int const` and `Foo`.
  static func arguments(of name: String) -> [String] {
    var scanner = TextScanner(name.drop { $0 != "<" }.dropFirst())
    var result: [String] = []
    var start = 0
    while let byte = scanner.current {
      if byte == UInt8(ascii: ",") || byte == UInt8(ascii: ">") {
        let text = String(nameBytes: scanner.bytes[start..<scanner.position])
        result.append(text.hasPrefix(" ") ? String(text.dropFirst()) : text)
        start = scanner.position + 1
        if byte == UInt8(ascii: ">") { return result }
        scanner.position += 1
      } else if TextScanner.isOpening(byte) {
        _ = scanner.skipGroup()
      } else {
        scanner.position += 1
      }
    }
    return []
  }
}

/// An inner part of a container of libstdc++, and the container that it is for.
struct ContainerPart {
  /// Containers that are built on the same parts.
  enum Family: Hashable {
    case vector, deque, list, tree, hash, string, other

    /// What such containers allocate.
    var suffix: String {
      switch self {
      case .vector, .deque, .string, .other: "storage"
      case .list, .tree, .hash: "node"
      }
    }
  }

  /// What the part belongs to.
  var family: Family
  /// The container, as far as the part tells: a tree of pairs may be a map or a multimap.
  var container: String

  /// Recognises a part by its class; nil for any other.
  init?(_ member: CxxMember) {
    let arguments = CxxMember.arguments(of: member.type)
    guard let family = Self.parts[member.template], let first = arguments.first else { return nil }
    self.family = family
    let isPMR = arguments.last?.hasPrefix("std::pmr::polymorphic_allocator<") == true
    let space = isPMR ? Self.pmr : "std::"
    switch family {
    case .vector: container = "\(space)vector<\(first)>"
    case .deque: container = "\(space)deque<\(first)>"
    case .list: container = "\(space)list<\(first)>"
    case .tree: container = Self.keyed("\(space)map", "\(space)set", first, arguments)
    case .hash:
      container = Self.keyed(
        "\(space)unordered_map", "\(space)unordered_set", first, arguments)
    case .string, .other: return nil
    }
  }

  /// The second argument is what the container holds: a pair of key and value, or the key.
  private static func keyed(
    _ map: String, _ set: String, _ key: String, _ arguments: [String]
  ) -> String {
    guard arguments.count > 1, arguments[1].hasPrefix("std::pair<"),
      let value = CxxMember.arguments(of: arguments[1]).dropFirst().first
    else { return "\(set)<\(key)>" }
    return "\(map)<\(key), \(value)>"
  }

  private static let parts: [String: Family] = [
    "std::_Vector_base": .vector, "std::_Deque_base": .deque, "std::_List_base": .list,
    "std::__cxx11::_List_base": .list, "std::_Rb_tree": .tree, "std::_Hashtable": .hash,
  ]

  /// What is known of a container by its name without arguments; nil for any other class.
  static func container(named template: String) -> Container? {
    containers[template] ?? containers[withoutPMR(template)]
  }

  /// `std::map` of `std::pmr::map`; other names stay as they are.
  static func withoutPMR(_ name: String) -> String {
    name.hasPrefix(pmr) ? "std::" + name.dropFirst(pmr.count) : name
  }

  private static let pmr = "std::pmr::"

  /// The containers that programs name.
  private static let containers: [String: Container] = [
    "std::vector": Container(.vector), "std::deque": Container(.deque),
    "std::list": Container(.list), "std::forward_list": Container(.list),
    "std::map": Container(.tree), "std::multimap": Container(.tree), "std::set": Container(.tree),
    "std::multiset": Container(.tree), "std::unordered_map": Container(.hash),
    "std::unordered_multimap": Container(.hash), "std::unordered_set": Container(.hash),
    "std::unordered_multiset": Container(.hash), "std::string": Container(.string),
    "std::wstring": Container(.string), "std::basic_string": Container(.string),
    "std::u16string": Container(.string), "std::u32string": Container(.string),
    "std::u8string": Container(.string), "std::valarray": Container(.other),
    "std::function": Container(.other), "std::any": Container(.other),
    "std::pmr::monotonic_buffer_resource": Container(.other),
    "std::pmr::unsynchronized_pool_resource": Container(.other),
    "std::pmr::synchronized_pool_resource": Container(.other),
  ]

  /// A container that programs name.
  struct Container {
    var family: Family
    var suffix: String { family.suffix }

    init(_ family: Family) { self.family = family }
  }
}
