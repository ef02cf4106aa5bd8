import CLibDW
import Glibc

/// What names stand for that a class template gives to types: `value_type` in `Pool<app::Node>`.
struct ClassAliases {
  private let structures: UnitStructures

  /// - Parameter structures: Those of the unit, with the names that its classes give to types.
  init(_ structures: UnitStructures) {
    self.structures = structures
  }

  /// The type that a name stands for in a member of an instance of a template.
  ///
  /// - Parameters:
  ///   - name: One identifier.
  ///   - function: The member, without parameters: `Pool<app::Node>::get`.
  /// - Returns: `app::Node`; nil where no instance that the member is in declares the name for a type that has one.
  func type(_ name: String, in function: String) -> String? {
    let found = CxxScopes(of: function).instances.lazy
      .compactMap { structures.definition(of: $0 + name) }.first
    guard let found, found.tag == DW_TAG_typedef else { return nil }
    return Self.name(ofType: found).map(CxxNames.short)
  }

  private static func name(ofType type: Dwarf_Die, depth: Int = 0) -> String? {
    guard depth < deepest else { return nil }
    let target = type.reference(DW_AT_type)
    switch type.tag {
    case DW_TAG_typedef, DW_TAG_const_type, DW_TAG_volatile_type:
      return target.flatMap { name(ofType: $0, depth: depth + 1) }
    case DW_TAG_pointer_type:
      guard let target else { return "void*" }
      return name(ofType: target, depth: depth + 1).map {
        (target.tag == DW_TAG_const_type ? $0 + " const" : $0) + "*"
      }
    case DW_TAG_base_type: return type.string(DW_AT_name)
    case DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type, DW_TAG_enumeration_type:
      return type.string(DW_AT_name).flatMap { name in path(to: type).map { $0 + name } }
    default: return nil
    }
  }

  /// The namespaces and classes that a class is in; nil for one of a function.
  ///
  /// - Complexity: O(*n*) in the entries of its unit.
  private static func path(to type: Dwarf_Die) -> String? {
    var type = type
    var scopes: UnsafeMutablePointer<Dwarf_Die>?
    let count = Int(dwarf_getscopes_die(&type, &scopes))
    guard count > 0, let scopes else { return nil }
    defer { free(scopes) }
    var path = ""
    for scope in UnsafeBufferPointer(start: scopes, count: count).dropFirst() {
      let tag = scope.tag
      if let name = scope.scopeName(tag) {
        path = name + "::" + path
      } else if tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block {
        return nil
      }
    }
    return path
  }

  private static let deepest = 32
}
