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
    var pending = [(die: unit, path: "")]
    var visited = 0
    while let (scope, path) = pending.popLast() {
      var next = scope.firstChild
      while let die = next, visited < Self.mostEntries {
        visited += 1
        let tag = die.tag
        if tag == DW_TAG_subprogram {
          if !path.isEmpty, die.linkageName == nil { paths[die.offset] = path }
        } else if let name = die.scopeName(tag) {
          pending.append((die, path.isEmpty ? name : "\(path)::\(name)"))
        }
        next = die.nextSibling
      }
    }
  }

  /// What a function is declared in; nil for functions in none and for those that are not here.
  func path(of declaration: Dwarf_Die) -> String? { paths[declaration.offset] }

  /// A bound for damaged files; the greatest units have some millions.
  private static let mostEntries = 50_000_000
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
