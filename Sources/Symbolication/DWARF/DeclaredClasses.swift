import CLibDW

/// The classes that a unit only declares: another one says what is in them.
struct DeclaredClasses {
  /// Whole names, `app::Shape`, by the offsets of the declarations.
  private var names: [Dwarf_Off: String] = [:]

  /// Walks the unit once: libdw would do so for each entry that is asked for what is around it.
  ///
  /// - Parameter unit: Its entry; that of a partial unit, too.
  /// - Complexity: O(*n*) in its namespaces, classes and their members.
  init(of unit: Dwarf_Die) {
    unit.forEachEntry { die, path in
      guard let name = die.scopeName(die.tag) else { return nil }
      if die.has(DW_AT_declaration) { names[die.offset] = path + name }
      return path + name + "::"
    }
  }

  /// The whole name of the class that an entry declares; nil where it does not.
  func name(of declaration: Dwarf_Die) -> String? { names[declaration.offset] }
}
