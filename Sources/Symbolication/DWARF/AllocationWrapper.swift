import CLibDW

/// Functions of C and C++ that allocate what their callers ask for, or free what these give them, told by how they are
/// declared.
///
/// Most programs have some of their own, and a report that named them would name one function for everything. A
/// function that allocates an object of its own returns a pointer to its type; one that does so for others knows
/// no type, but how much is wanted.
enum AllocationWrapper {
  /// Whether a function is one.
  ///
  /// - Parameter function: Of a unit of C or C++; also the entry of a call that was inlined.
  /// - Returns: True for `void *pool_alloc(struct pool *, size_t)`, for `char *xstrdup(const char *)` and for
  ///   `void my_free(void *)`, false for `struct node *alloc_node(int kind)`, for `void leak_malloc(void)` and for
  ///   `void node_free(struct node *)`; nil where debug information does not say how it is declared.
  static func isOne(_ function: Dwarf_Die) -> Bool? {
    let declaration = function.declaration
    guard let written = declaration.string(DW_AT_name) else { return nil }
    if AllocationWrapperNames.frees(written) { return isDescribed(declaration) && frees(function) }
    let name = written.lowercased()
    let copies = copyWords.contains { TextSearch.holds(name, $0) }
    guard copies || saysAlloc(name) else { return false }
    guard isDescribed(declaration) else { return nil }
    guard let returned = declaration.reference(DW_AT_type), isPointerToBytes(returned) else {
      return false
    }
    return parameters(of: function).contains { type in
      isSize(type) || copies && isPointerToBytes(type)
    }
  }

  /// Whether a function returns nothing, takes an address that may be anything's, and looks at nothing behind it.
  ///
  /// One that does, by a variable of another type, ends an object that it knows.
  private static func frees(_ function: Dwarf_Die) -> Bool {
    let entries = [function, function.reference(DW_AT_abstract_origin) ?? function]
    guard !function.declaration.has(DW_AT_type),
      !entries.contains(where: { $0.children.contains { $0.tag == DW_TAG_variable } })
    else { return false }
    return parameters(of: function).contains(where: isPointerToBytes)
  }

  /// Whether a name says that something is allocated: `node_alloc`, but neither `dealloc` nor `allocation_text`.
  private static func saysAlloc(_ name: String) -> Bool {
    TextSearch.holds(name, "alloc")
      && name.ranges(of: "alloc").contains { word in
        !name[..<word.lowerBound].hasSuffix("de")
          && !["ation", "ator", "ated"].contains(where: name[word.upperBound...].hasPrefix)
      }
  }

  /// Whether debug information says how a function is declared: with `-g1` it has the names and lines alone.
  private static func isDescribed(_ declaration: Dwarf_Die) -> Bool {
    declaration.has(DW_AT_type) || declaration.has(DW_AT_prototyped)
      || declaration.children.contains { $0.tag == DW_TAG_formal_parameter }
      || declaration.unit.children.contains { describesTypes.contains($0.tag) }
  }

  /// The types of the parameters.
  ///
  /// A declaration in a class that has a unit of its own (`-fdebug-types-section`) names none; what refers to it does.
  private static func parameters(of function: Dwarf_Die) -> [Dwarf_Die] {
    [function.declaration, function.reference(DW_AT_abstract_origin) ?? function].flatMap { entry in
      entry.children.lazy
        .filter { $0.tag == DW_TAG_formal_parameter && !$0.declaration.has(DW_AT_artificial) }
        .compactMap { $0.reference(DW_AT_type) }
    }
  }

  /// `xstrdup`, `buf_memdup0`, `kdup`; `dup` alone may be anything.
  private static let copyWords: [StaticString] = [
    "strdup", "strndup", "memdup", "dupstr", "savestr", "strsave",
  ]

  /// `void *`, or a pointer to characters or bytes.
  private static func isPointerToBytes(_ type: Dwarf_Die) -> Bool {
    let pointer = ObjectTypes.bare(type)
    guard pointer.tag == DW_TAG_pointer_type else { return false }
    guard let target = pointer.reference(DW_AT_type).map(ObjectTypes.bare) else { return true }
    // `const void *`; `std::byte` is an enumeration.
    guard target.tag != 0, !ObjectTypes.qualifiers.contains(target.tag) else { return true }
    return [DW_TAG_base_type, DW_TAG_enumeration_type].contains(target.tag)
      && target.number(DW_AT_byte_size) == 1
  }

  /// Whether a parameter may say how many bytes: an integer of at least 16 bits.
  private static func isSize(_ type: Dwarf_Die) -> Bool {
    let bare = ObjectTypes.bare(type)
    return bare.tag == DW_TAG_base_type && (bare.number(DW_AT_byte_size) ?? 0) >= 2
      && bare.number(DW_AT_encoding).map(integers.contains) == true
  }

  private static let describesTypes: Set<Int> = [DW_TAG_base_type, DW_TAG_imported_unit]
  private static let integers: Set<Int> = [Int(DW_ATE_signed), Int(DW_ATE_unsigned)]
}
