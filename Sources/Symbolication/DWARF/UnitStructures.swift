import CLibDW

/// The structures and classes of a unit of C, C++ or Rust by their names; not those of functions, nor of the standard
/// library but for those of Rust that hold values of the program, such as `RefCell` and `String`.
struct UnitStructures {
  /// By whole names, see `key`.
  private var named: [String: Dwarf_Die] = [:]
  /// Whole names by what is behind the last `::` of them.
  private var wholeNames: [String: Set<String>] = [:]

  /// How many entries were read.
  private(set) var entryCount = 0

  /// - Parameter unit: Its entry.
  /// - Complexity: O(*n*) in its namespaces, classes and their members.
  init(of unit: Dwarf_Die) {
    let isRust = unit.isRust
    let hasNamespaces = unit.isCxx || isRust
    unit.forEachEntry {
      entryCount += 1
      guard hasNamespaces else { return addC($0) }
      return isRust && Self.isOfLibrary($0, in: $1)
        ? addOfRust($0, in: $1) : addCxx($0, in: $1, except: isRust ? [] : ["std"])
    }
  }

  /// The structure that has exactly this name.
  func definition(of name: String) -> Dwarf_Die? { named[Self.key(name)] }

  /// The structure that a name stands for.
  ///
  /// - Parameter name: `struct node`, `node_t`, `app::Node`; of C++ also without the namespaces and
  ///   classes that it is in, where only one can be meant.
  /// - Returns: nil where the unit does not define it.
  func structure(named name: String) -> Dwarf_Die? {
    let name = Self.key(name)
    if let found = named[name] { return found }
    guard let all = wholeNames[name], all.count == 1, let only = all.first else { return nil }
    return named[only]
  }

  private mutating func addC(_ die: Dwarf_Die) -> String? {
    guard let name = die.string(DW_AT_name) else { return nil }
    switch die.tag {
    case DW_TAG_typedef: add(die, name)
    case DW_TAG_structure_type where die.isDefinition: add(die, "struct " + name)
    case DW_TAG_union_type where die.isDefinition: add(die, "union " + name)
    default: break
    }
    return nil
  }

  private mutating func addCxx(
    _ die: Dwarf_Die, in path: String, except libraries: Set<String>
  ) -> String? {
    let tag = die.tag
    let name = die.string(DW_AT_name)
    if tag == DW_TAG_namespace {
      if path.isEmpty, let name, libraries.contains(name) { return nil }
      return path + (name ?? "(anonymous namespace)") + "::"
    }
    guard let name else { return nil }
    if tag == DW_TAG_typedef {
      add(die, path + name, in: path)
      return nil
    }
    guard StructureMembers.structures.contains(tag), die.isDefinition else { return nil }
    add(die, path + name, in: path)
    return path + name + "::"
  }

  /// Whether an entry is one of the standard library of Rust; also tuples, and pointers with a table of functions
  /// beside them, `alloc::boxed::Box<dyn app::Shape>`, which are in no namespace.
  private static func isOfLibrary(_ die: Dwarf_Die, in path: String) -> Bool {
    let path = path.isEmpty ? die.string(DW_AT_name) ?? "" : path
    let end = path.firstIndex(of: ":") ?? path.endIndex
    return path.hasPrefix("(") || RustLibraries.namespaces.contains(String(path[..<end]))
  }

  /// Of the standard library of Rust what has values of the program in it, by names as blocks have them.
  private mutating func addOfRust(_ die: Dwarf_Die, in path: String) -> String? {
    guard let name = die.string(DW_AT_name) else { return nil }
    if die.tag == DW_TAG_namespace { return path + name + "::" }
    if StructureMembers.structures.contains(die.tag), RustLibraries.holdsValues(name),
      die.isDefinition
    {
      add(die, RustMember.short(path + name))
    }
    return nil
  }

  private mutating func add(_ die: Dwarf_Die, _ name: String, in path: String = "") {
    let key = Self.key(name)
    if named[key] == nil { named[key] = die }
    if !path.isEmpty {
      wholeNames[Self.key(String(name.dropFirst(path.count))), default: []].insert(key)
    }
  }

  /// A name as compilers and demanglers would write it alike.
  static func key(_ name: String) -> String {
    var key = name.filter { $0 != " " }
    guard key.contains("<") else { return key }
    for (one, other) in integers where TextSearch.holds(key, one) {
      key.replace("\(one)", with: other)
    }
    return key
  }

  /// As GCC names integers among the arguments of templates, and as everybody else does.
  private static let integers: [(StaticString, String)] = [
    ("longlongunsignedint", "unsignedlonglong"), ("longlongint", "longlong"),
    ("longunsignedint", "unsignedlong"), ("longint", "long"),
    ("shortunsignedint", "unsignedshort"), ("shortint", "short"),
  ]
}

extension Dwarf_Die {
  /// Whether it says how large the type is; declarations do not.
  var isDefinition: Bool { number(DW_AT_byte_size) != nil }
}
