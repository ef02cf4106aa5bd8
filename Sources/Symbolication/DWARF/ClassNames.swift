import CLibDW

/// The classes of a unit of C++, with the namespaces and classes that they are in.
///
/// Templates and the standard library are left out: sources spell their names in full. Not what is in
/// templates.
struct ClassNames {
  /// Whole names by what is behind the last `::` of them; without the arguments of templates that they
  /// are in, `app::Cache<>::Entry`.
  private var names: [String: Set<String>] = [:]

  /// - Parameter unit: Its entry.
  /// - Complexity: O(*n*) in its namespaces, classes and their members.
  init(of unit: Dwarf_Die) {
    guard unit.isCxx else { return }
    unit.forEachEntry { add($0, in: $1) }
  }

  /// Adds an entry where it is a class.
  ///
  /// - Returns: What is in front of the names in it; nil where it has none.
  private mutating func add(_ die: Dwarf_Die, in path: String) -> String? {
    let tag = die.tag
    let name = die.string(DW_AT_name)
    if tag == DW_TAG_namespace {
      return name == "std" && path.isEmpty ? nil : path + (name ?? "(anonymous namespace)") + "::"
    }
    guard Self.classes.contains(tag), let name, die.number(DW_AT_byte_size) != nil else {
      return nil
    }
    let scope = name.contains("<") ? CxxScopes.withoutArguments(name) : name
    if scope == name { names[name, default: []].insert(path + name) }
    return path + scope + "::"
  }

  /// The whole name of a type.
  ///
  /// What is meant is looked for as the compiler does, from the class of the function outwards.
  ///
  /// - Parameters:
  ///   - type: As its source spells it: `Node`, `list::Node*[]`.
  ///   - function: The function of that source, without parameters: `app::Cache<int>::put`.
  /// - Returns: nil where no class, or more than one, can be meant.
  func whole(_ type: String, in function: String) -> String? {
    let spelled = type.prefix { $0 != "*" && $0 != "[" }
    guard let last = spelled.split(separator: ":").last, let named = names[String(last)] else {
      return nil
    }
    let scopes = CxxScopes(of: function)
    let name = scopes.innermost { named.contains($0 + spelled) }.map { $0 + spelled }
    return (name ?? Self.only(named, spelled)).map { $0 + type.dropFirst(spelled.count) }
  }

  /// The only one of some names that ends as the source spells it.
  private static func only(_ names: Set<String>, _ spelled: Substring) -> String? {
    let meant = names.filter { $0 == spelled || $0.hasSuffix("::" + spelled) }
    guard meant.count == 1, let name = meant.first, !name.contains("<>") else { return nil }
    return name
  }

  /// Whether a function, or a block of it, has a class of its own by this name.
  static func isLocal(_ type: String, in scopes: [Dwarf_Die]) -> Bool {
    let name = String(type.prefix { $0 != "*" && $0 != "[" && $0 != ":" })
    return scopes.contains { scope in
      scope.children.contains { classes.contains($0.tag) && $0.string(DW_AT_name) == name }
    }
  }

  private static let classes: Set<Int> = [
    DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type,
  ]
}
