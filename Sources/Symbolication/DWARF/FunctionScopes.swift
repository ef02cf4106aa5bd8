import CLibDW

/// The namespaces and classes that the functions of a unit of C++ are declared in, for those that have no
/// mangled name to tell it.
///
/// GCC gives none to functions that no other unit can call: `static` ones, and all in unnamed
/// namespaces. Functions inside of functions are not entered.
struct FunctionScopes {
  /// What is in front of the name, by the offset of the declaration: `app::Parser`.
  private var paths: [Dwarf_Off: String] = [:]

  /// Walks the unit once.
  init(of unit: Dwarf_Die) {
    unit.forEachEntry { die, path in
      let tag = die.tag
      guard tag == DW_TAG_subprogram else { return die.scopeName(tag).map { "\(path)\($0)::" } }
      if !path.isEmpty, die.linkageName == nil { paths[die.offset] = String(path.dropLast(2)) }
      return nil
    }
  }

  /// What a function is declared in; nil for functions in none and for those that are not here.
  func path(of declaration: Dwarf_Die) -> String? { paths[declaration.offset] }
}

extension Dwarf_Die {
  /// The name of a namespace or class, as demanglers write it; nil for all other entries.
  func scopeName(_ tag: Int) -> String? {
    switch tag {
    case DW_TAG_namespace: string(DW_AT_name) ?? "(anonymous namespace)"
    case DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type:
      string(DW_AT_name) ?? "<lambda>"
    default: nil
    }
  }
}
