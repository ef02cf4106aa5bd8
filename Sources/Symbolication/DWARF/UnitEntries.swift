import CLibDW

extension Dwarf_Die {
  /// Whether the entry of a unit says that it is of C++.
  var isCxx: Bool {
    guard let language = number(DW_AT_language) else { return false }
    return [
      DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14,
    ].contains(language) || Self.laterCxx.contains(language)
  }

  /// Whether the entry of a unit says that it is of Rust.
  var isRust: Bool { number(DW_AT_language) == DW_LANG_Rust }

  /// `DW_LANG_C_plus_plus_17` and `DW_LANG_C_plus_plus_20`.
  private static let laterCxx = [0x2b, 0x2f]

  /// A unit, and the partial units that it imports: `dwz` puts there what several units have, in debug files of
  /// distributions nearly all types.
  ///
  /// - Complexity: O(*n*) in the outermost entries of these.
  var unitParts: [Dwarf_Die] {
    var parts = [self]
    var known: Set<UnsafeMutableRawPointer?> = []
    var position = 0
    while position < parts.count {
      for die in parts[position].children {
        if die.tag == DW_TAG_imported_unit, let unit = die.reference(DW_AT_import),
          unit.tag == DW_TAG_partial_unit, known.insert(unit.addr).inserted
        {
          parts.append(unit)
        }
      }
      position += 1
    }
    return parts
  }

  /// Visits the entries of a unit from the outside inwards, such as namespaces, classes and functions; also those
  /// that it imports.
  ///
  /// - Parameter visit: Gets an entry, and what the one around it returned, of a unit an empty text.
  ///   Returns what is in front of the names in the entry, `app::Parser::`; nil where nothing in it is
  ///   to be visited.
  func forEachEntry(_ visit: (_ die: Dwarf_Die, _ path: String) -> String?) {
    var pending = unitParts.reversed().map { (die: $0, path: "") }
    var visited = 0
    while let (scope, path) = pending.popLast() {
      for die in scope.children {
        guard visited < Self.mostEntries else { return }
        visited += 1
        if let inner = visit(die, path) { pending.append((die, inner)) }
      }
    }
  }

  /// A bound for damaged files; the greatest units have some millions.
  private static let mostEntries = 50_000_000
}
