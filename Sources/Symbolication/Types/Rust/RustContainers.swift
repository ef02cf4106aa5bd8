/// What the Rust standard library allocates for a program, named after the container it is for.
///
/// Nothing in memory tells the type of a Rust block; the functions between the allocator and the
/// program's code do: `alloc::vec::Vec<T,A>::push<u16, alloc::alloc::Global>` (legacy symbols with
/// debug information), `<alloc::vec::Vec<u16>>::push` (v0 symbols). Without either the container is
/// named without its arguments.
enum RustContainers {
  /// What one allocation is for.
  enum Family: Hashable {
    case vector, table, tree, list, reference, box
  }

  /// A type of the standard library that owns memory.
  struct Container {
    var family: Family
    var name: String
    /// How many of its arguments are shown.
    var arity: Int
    /// What its blocks are; nil where the block is the value itself.
    var suffix: String?
    /// A part that several containers are built on.
    var isPart = false
  }

  /// The name of what a stack allocated: `Vec<u16> storage`, `Box<app::Node>`.
  ///
  /// - Parameter frames: The frames between the allocator and the program's code, leaf first,
  ///   inlined ones included.
  /// - Returns: nil when none of them belongs to a container.
  static func name(of frames: some Sequence<SymbolicatedFrame>) -> TypeName? {
    var found: Allocation?
    for frame in frames {
      guard let function = frame.function, function.language == .rust,
        let member = RustMember(RustNames.withoutTypesOfConstants(function.full)),
        let next = Allocation(member)
      else { continue }
      guard let inner = found else {
        found = next
        continue
      }
      guard let outer = inner.wrapped(in: next) else { break }
      found = outer
    }
    guard let text = found?.text else { return nil }
    return TypeName(short: text, full: text, language: .rust)
  }

  /// Whether a name that ``name(of:)`` has found is that of a value with counts in front of it.
  static func isReference(_ name: TypeName) -> Bool {
    name.language == .rust && ["Rc", "Arc"].contains(name.short.prefix { $0 != "<" })
  }

  /// Whether a name that ``name(of:)`` has found is that of a table with the elements of a hash map or set.
  static func isTable(_ name: TypeName) -> Bool {
    name.language == .rust
      && ["HashMap", "HashSet"].contains(name.short.prefix { $0 != "<" && $0 != " " })
  }

  static let containers: [String: Container] = [
    "alloc::raw_vec::RawVecInner": Container(
      family: .vector, name: "Vec", arity: 0, suffix: "storage", isPart: true),
    "alloc::raw_vec::RawVec": Container(
      family: .vector, name: "Vec", arity: 1, suffix: "storage", isPart: true),
    "alloc::vec::Vec": Container(family: .vector, name: "Vec", arity: 1, suffix: "storage"),
    "alloc::string::String": Container(
      family: .vector, name: "String", arity: 0, suffix: "storage"),
    "alloc::collections::vec_deque::VecDeque": Container(
      family: .vector, name: "VecDeque", arity: 1, suffix: "storage"),
    "alloc::collections::binary_heap::BinaryHeap": Container(
      family: .vector, name: "BinaryHeap", arity: 1, suffix: "storage"),
    "std::ffi::os_str::OsString": Container(
      family: .vector, name: "OsString", arity: 0, suffix: "storage"),
    "std::path::PathBuf": Container(family: .vector, name: "PathBuf", arity: 0, suffix: "storage"),
    "hashbrown::raw::RawTableInner": Container(
      family: .table, name: "HashMap", arity: 0, suffix: "storage", isPart: true),
    "hashbrown::raw::RawTable": Container(
      family: .table, name: "HashMap", arity: 0, suffix: "storage", isPart: true),
    "hashbrown::map::HashMap": Container(
      family: .table, name: "HashMap", arity: 2, suffix: "storage"),
    "std::collections::hash::map::HashMap": Container(
      family: .table, name: "HashMap", arity: 2, suffix: "storage"),
    "hashbrown::set::HashSet": Container(
      family: .table, name: "HashSet", arity: 1, suffix: "storage"),
    "std::collections::hash::set::HashSet": Container(
      family: .table, name: "HashSet", arity: 1, suffix: "storage"),
    "alloc::collections::btree::node::LeafNode": Container(
      family: .tree, name: "BTreeMap", arity: 2, suffix: "node", isPart: true),
    "alloc::collections::btree::node::InternalNode": Container(
      family: .tree, name: "BTreeMap", arity: 2, suffix: "node", isPart: true),
    "alloc::collections::btree::map::BTreeMap": Container(
      family: .tree, name: "BTreeMap", arity: 2, suffix: "node"),
    "alloc::collections::btree::set::BTreeSet": Container(
      family: .tree, name: "BTreeSet", arity: 1, suffix: "node"),
    "alloc::collections::linked_list::LinkedList": Container(
      family: .list, name: "LinkedList", arity: 1, suffix: "node"),
    "alloc::rc::Rc": Container(family: .reference, name: "Rc", arity: 1),
    "alloc::sync::Arc": Container(family: .reference, name: "Arc", arity: 1),
    "alloc::boxed::Box": Container(family: .box, name: "Box", arity: 1),
  ]

  /// What `Box` holds on behalf of other types, and these.
  static let boxed: [String: Container] = [
    "alloc::rc::RcInner": Container(family: .reference, name: "Rc", arity: 1),
    "alloc::rc::RcBox": Container(family: .reference, name: "Rc", arity: 1),
    "alloc::sync::ArcInner": Container(family: .reference, name: "Arc", arity: 1),
    "alloc::collections::btree::node::LeafNode": Container(
      family: .tree, name: "BTreeMap", arity: 2, suffix: "node", isPart: true),
    "alloc::collections::btree::node::InternalNode": Container(
      family: .tree, name: "BTreeMap", arity: 2, suffix: "node", isPart: true),
    "alloc::collections::linked_list::Node": Container(
      family: .list, name: "LinkedList", arity: 1, suffix: "node", isPart: true),
  ]
}

extension RustContainers {
  /// What is known of one allocation so far.
  fileprivate struct Allocation {
    private var container: Container
    /// The container's arguments; empty while they are not known.
    private var arguments: [String]
    /// The function of it that is on the stack.
    private let function: String

    /// Recognises a function of a container; nil for any other.
    init?(_ member: RustMember) {
      // Makes a vector, but is none of its functions.
      let isVector = member.type == "alloc::vec" && member.function == "from_elem"
      guard
        let container = RustContainers.containers[isVector ? "alloc::vec::Vec" : member.template]
      else { return nil }
      self.init(container, member.arguments, function: member.function)
    }

    private init(_ container: Container, _ arguments: [String], function: String) {
      self.function = function
      self.container = container
      self.arguments = Array(arguments.prefix(container.arity))
      if container.family == .box, let content = self.arguments.first,
        let owner = RustContainers.boxed[String(content.prefix { $0 != "<" })]
      {
        self.container = owner
        self.arguments = Array(RustMember.arguments(of: content).prefix(owner.arity))
      }
    }

    /// The same allocation as seen from the caller's caller; nil when that is another container,
    /// which holds this one.
    func wrapped(in outer: Allocation) -> Allocation? {
      guard container.family == outer.container.family else {
        // A box whose content is not known may be one of those that are not shown as such.
        let mayBe: Set<Family> = [.reference, .tree, .list]
        return container.family == .box && arguments.isEmpty
          && mayBe.contains(outer.container.family) ? outer : nil
      }
      let isSame = container.name == outer.container.name
      if isSame, !arguments.isEmpty, !outer.arguments.isEmpty, arguments != outer.arguments,
        !isGrown(by: outer)
      {
        return nil
      }
      if !isSame, !container.isPart, !isStorage(of: outer) { return nil }
      var result = outer
      if result.arguments.isEmpty {
        result.arguments = Array(arguments.prefix(outer.container.arity))
      }
      return result
    }

    /// Whether this is the part by which the other one grows: functions that are the same for several types of
    /// elements are merged, and have the name of one of them.
    private func isGrown(by outer: Allocation) -> Bool {
      container.isPart && function == "grow_one" && ["push", "push_mut"].contains(outer.function)
    }

    /// Whether a whole container is what the other one keeps its values in: the bytes of a string.
    private func isStorage(of outer: Allocation) -> Bool {
      switch outer.container.name {
      case "String", "OsString", "PathBuf":
        ["String", "OsString"].contains(container.name) || arguments.isEmpty || arguments == ["u8"]
      case "BinaryHeap":
        arguments.isEmpty || outer.arguments.isEmpty || arguments == outer.arguments
      case "HashSet", "BTreeSet":
        arguments.isEmpty || outer.arguments.isEmpty || arguments.first == outer.arguments.first
      default: false
      }
    }

    var text: String {
      let list = arguments.map(RustMember.short).map(content).joined(separator: ", ")
      let name = arguments.isEmpty ? container.name : "\(container.name)<\(list)>"
      return container.suffix.map { "\(name) \($0)" } ?? name
    }

    /// The type of a value that is put into its block later, as by `Rc::new_cyclic` and `Box::new_uninit`.
    private func content(_ type: String) -> String {
      let prefix = "MaybeUninit<"
      guard container.suffix == nil, type.hasPrefix(prefix), type.hasSuffix(">") else {
        return type
      }
      return String(type.dropFirst(prefix.count).dropLast())
    }
  }
}

/// A function of a Rust type, taken apart.
struct RustMember {
  /// The type: `alloc::vec::Vec<u16>`; the module of a free function.
  var type: String
  /// The function: `push`.
  var function: String
  /// The arguments of the type, else those of the function, which begin with the type's; empty
  /// where only their names are known.
  var arguments: [String]

  /// The type without its arguments.
  var template: String { String(type.prefix { $0 != "<" }) }

  /// Takes a demangled name apart; nil when it has no `::`.
  init?(_ name: String) {
    var path = Self.withoutHash(name)
    let own = Self.removeArguments(at: &path)
    guard let split = Self.lastSeparator(path) else { return nil }
    type = Self.subject(String(path.utf8.prefix(split)) ?? "")
    function = String(path.utf8.dropFirst(split + 2)) ?? ""
    let known = Self.arguments(of: type)
    arguments = Self.areKnown(known) ? known : Self.areKnown(own) ? own : []
  }

  /// The arguments at the end of a name: `Vec<T, A>` gives `T` and `A`.
  static func arguments(of name: String) -> [String] {
    var path = name
    return removeArguments(at: &path)
  }

  /// A type without the paths of the standard library: `alloc::vec::Vec<u8>` gives `Vec<u8>`.
  static func short(_ type: String) -> String {
    type.replacing(", alloc::alloc::Global", with: "")
      .replacing(/\b(?:alloc|core|std|hashbrown)::(?:[a-z0-9_]+::)*(?=[A-Z])/, with: "")
  }

  /// Without the hash at the end of a legacy name, and those of crates in names of version 0
  /// (`alloc[5f3a…]::vec`).
  private static func withoutHash(_ name: String) -> String {
    var result: [UInt8] = []
    let bytes = Array(name.replacing(/::h[0-9a-f]{16}(?=$|<)/, with: "").utf8)
    var position = 0
    while position < bytes.count {
      // In brackets behind a name; those of slices and arrays stand behind none.
      if bytes[position] == UInt8(ascii: "["), let last = result.last,
        TextScanner.isIdentifier(last),
        let end = bytes[position...].firstIndex(of: UInt8(ascii: "]"))
      {
        position = end + 1
        continue
      }
      result.append(bytes[position])
      position += 1
    }
    return String(nameBytes: result)
  }

  /// Cuts a group of arguments off, and the `::` before it.
  private static func removeArguments(at path: inout String) -> [String] {
    let bytes = Array(path.utf8)
    guard bytes.last == UInt8(ascii: ">") else { return [] }
    var depth = 0
    for position in bytes.indices.reversed() {
      if bytes[position] == UInt8(ascii: ">"), !isArrow(bytes, position) { depth += 1 }
      if bytes[position] == UInt8(ascii: "<") { depth -= 1 }
      guard depth == 0 else { continue }
      // All of it in brackets is no argument: `<T as Trait>`.
      guard position > 0 else { return [] }
      let content = bytes[(position + 1)..<(bytes.count - 1)]
      let hasColons = position >= 2 && bytes[(position - 2)..<position].elementsEqual("::".utf8)
      path = String(nameBytes: bytes[..<(hasColons ? position - 2 : position)])
      return split(Array(content))
    }
    return []
  }

  private static func isArrow(_ bytes: [UInt8], _ position: Int) -> Bool {
    position > 0 && bytes[position - 1] == UInt8(ascii: "-")
  }

  /// Splits at the commas that are in no group.
  private static func split(_ bytes: [UInt8]) -> [String] {
    var (parts, start, depth): ([String], Int, Int) = ([], 0, 0)
    for (position, byte) in bytes.enumerated() {
      if TextScanner.isOpening(byte) { depth += 1 }
      if TextScanner.isClosing(byte), !isArrow(bytes, position) { depth -= 1 }
      if byte == UInt8(ascii: ","), depth == 0 {
        parts.append(String(nameBytes: bytes[start..<position]))
        start = position + 1
      }
    }
    parts.append(String(nameBytes: bytes[start...]))
    return parts.map { $0.hasPrefix(" ") ? String($0.dropFirst()) : $0 }
  }

  /// Where the last `::` begins that is in no group.
  private static func lastSeparator(_ path: String) -> Int? {
    let bytes = Array(path.utf8)
    var (found, depth): (Int?, Int) = (nil, 0)
    for (position, byte) in bytes.enumerated() {
      if TextScanner.isOpening(byte) { depth += 1 }
      if TextScanner.isClosing(byte), !isArrow(bytes, position) { depth -= 1 }
      if depth == 0, byte == UInt8(ascii: ":"), position + 1 < bytes.count,
        bytes[position + 1] == byte
      {
        found = position
      }
    }
    return found
  }

  /// The type in `<Type as Trait>` and `<Type>`.
  private static func subject(_ text: String) -> String {
    guard text.hasPrefix("<"), text.hasSuffix(">") else { return text }
    let inner = String(text.dropFirst().dropLast())
    var depth = 0
    let bytes = Array(inner.utf8)
    for (position, byte) in bytes.enumerated() {
      if TextScanner.isOpening(byte) { depth += 1 }
      if TextScanner.isClosing(byte), !isArrow(bytes, position) { depth -= 1 }
      if depth == 0, bytes[position...].starts(with: " as ".utf8) {
        return String(nameBytes: bytes[..<position])
      }
    }
    return inner
  }

  /// Whether they are types, not the names of parameters: `T`, `K`, `_`.
  private static func areKnown(_ arguments: [String]) -> Bool {
    guard let first = arguments.first, !first.isEmpty else { return false }
    return !(first == "_" || (first.utf8.count == 1 && first.first?.isUppercase == true))
  }
}
