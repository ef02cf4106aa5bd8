import CLibDW

/// The classes of a unit of C++, with the namespaces and classes that they are in.
///
/// The standard library is left out: sources spell its names in full.
struct ClassNames {
  /// Whole names by what is behind the last `::` of them; without the arguments of templates,
  /// `app::Cache<>::Entry` by `Entry`, `app::Cache<>` by `Cache<>`.
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
    let pattern = Self.pattern(of: die, named: name)
    names[pattern, default: []].insert(path + pattern)
    return path + pattern + "::"
  }

  /// The name of a class without the arguments of its template: `Cache<>`.
  ///
  /// clang leaves the arguments to be read from the entry with `-gsimple-template-names`.
  private static func pattern(of die: Dwarf_Die, named name: String) -> String {
    let isPlain = !name.utf8.contains(UInt8(ascii: "<"))
    if isPlain, die.children.contains(where: { arguments.contains($0.tag) }) { return name + "<>" }
    return CxxScopes.withoutArguments(name)
  }

  private static let arguments: Set<Int> = [
    DW_TAG_template_type_parameter, DW_TAG_template_value_parameter,
    DW_TAG_GNU_template_parameter_pack, DW_TAG_GNU_template_template_param,
  ]

  /// The whole name of a type.
  ///
  /// What is meant is looked for as the compiler does, from the class of the function outwards; so are the arguments of
  /// a template, each by itself.
  ///
  /// - Parameters:
  ///   - type: As its source spells it: `Node`, `list::Node*[]`, `std::vector<Node>`.
  ///   - function: The function of that source, without parameters: `app::Cache<int>::put`.
  ///   - isLocal: Whether the function has a class of its own by a name, which is in nothing that could be named.
  /// - Returns: The same where of no class in it just one can be meant.
  func whole(_ type: String, in function: String, isLocal: (String) -> Bool) -> String {
    whole(type, in: CxxScopes(of: function), isLocal: isLocal)
  }

  private func whole(_ type: String, in scopes: CxxScopes, isLocal: (String) -> Bool) -> String {
    let spelled = CxxSpelledName(type)
    let arguments = spelled.mapArguments { whole($0, in: scopes, isLocal: isLocal) }
    guard let scope = scope(of: spelled, in: scopes), !isLocal(spelled.first) else {
      return arguments + spelled.rest
    }
    switch scope {
    case .around(let path): return path + arguments + spelled.rest
    case .itself(let name): return name + spelled.rest
    }
  }

  /// Where a name stands.
  private enum Scope {
    /// In what is written in front of it.
    case around(String)
    /// In the template whose instance it means, as it does in the members of that.
    case itself(String)
  }

  private func scope(of spelled: CxxSpelledName, in scopes: CxxScopes) -> Scope? {
    let pattern = spelled.pattern
    let named = names[spelled.last] ?? []
    if let scope = scopes.innermost({ named.contains($0 + pattern) }) { return .around(scope) }
    if let instance = scopes.instance(ofTemplate: pattern) { return .itself(instance) }
    return Self.only(named, pattern).map { .around($0) }
  }

  /// What the only one of some names that ends in a pattern is in; nil where that is a template, of which the pattern
  /// does not tell the arguments.
  private static func only(_ names: Set<String>, _ pattern: String) -> String? {
    let meant = names.filter { $0 == pattern || $0.hasSuffix("::" + pattern) }
    guard meant.count == 1, let name = meant.first else { return nil }
    let path = name.dropLast(pattern.count)
    return path.contains("<>") ? nil : String(path)
  }

  /// Whether a function, or a block of it, has a class of its own by this name.
  ///
  /// - Parameters:
  ///   - name: Without what is behind a first `::`, and without arguments.
  ///   - scopes: The function and its blocks.
  /// - Returns: True where one of them has.
  static func isLocal(_ name: String, in scopes: [Dwarf_Die]) -> Bool {
    scopes.contains { scope in
      scope.children.contains { classes.contains($0.tag) && $0.string(DW_AT_name) == name }
    }
  }

  private static let classes: Set<Int> = [
    DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type,
  ]
}
