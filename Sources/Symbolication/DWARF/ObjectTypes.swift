import CLibDW

/// Names the types of objects that C code speaks of, by the variables that are in scope.
struct ObjectTypes {
  /// The variables' scopes, the innermost first; the last one is the unit.
  private let scopes: [Dwarf_Die]
  private let isC: Bool

  /// For the code of a function.
  ///
  /// - Parameters:
  ///   - scopes: The blocks that hold the code, innermost first, and the function last.
  ///   - unit: The function's unit.
  init(scopes: [Dwarf_Die], unit: Dwarf_Die) {
    // An instance that was inlined or specialised may lack what was optimised out.
    let origin = scopes.last?.reference(DW_AT_abstract_origin)
    self.scopes = scopes + (origin.map { [$0] } ?? []) + [unit]
    isC = unit.number(DW_AT_language).map(Self.isC) ?? false
  }

  /// The name of an object's type; nil where it is not known or has none.
  func name(of object: ObjectExpression) -> String? {
    if let variable = variable(object.root) {
      return variable.reference(DW_AT_type).flatMap { target(of: object.steps[...], from: $0) }
        .flatMap { name(ofType: $0) }
    }
    return object.steps.isEmpty && isType(object.root) ? object.root : nil
  }

  // MARK: Variables

  private func variable(_ name: String) -> Dwarf_Die? {
    for (position, scope) in scopes.enumerated() {
      let isFunction = position < scopes.count - 1
      if let found = Self.variable(name, in: scope, entering: isFunction ? Self.blocks : []) {
        return found
      }
    }
    return nil
  }

  /// A variable of a scope; of blocks inside of it only what the scope itself does not have.
  private static func variable(
    _ name: String, in scope: Dwarf_Die, entering blocks: Set<Int>
  ) -> Dwarf_Die? {
    var pending = [scope]
    var position = 0
    while position < pending.count, pending.count < mostBlocks {
      for die in pending[position].children {
        let tag = die.tag
        if variables.contains(tag), die.string(DW_AT_name) == name { return die }
        if blocks.contains(tag) { pending.append(die) }
      }
      position += 1
    }
    return nil
  }

  /// Whether the unit has a type of this name.
  private func isType(_ name: String) -> Bool {
    (scopes.last?.unitParts ?? []).contains { part in
      part.children.contains { die in
        (die.tag == DW_TAG_typedef || (!isC && Self.structures.contains(die.tag)))
          && die.string(DW_AT_name) == name
      }
    }
  }

  private static let variables: Set<Int> = [DW_TAG_variable, DW_TAG_formal_parameter]
  private static let blocks: Set<Int> = [
    DW_TAG_lexical_block, DW_TAG_try_block, DW_TAG_catch_block,
  ]
  private static let mostBlocks = 1 << 16

  // MARK: Types

  private func target(
    of steps: ArraySlice<ObjectExpression.Step>, from type: Dwarf_Die
  ) -> Dwarf_Die? {
    guard let step = steps.first else { return type }
    let bare = Self.bare(type)
    let next: Dwarf_Die?
    switch step {
    case .target:
      next = Self.pointers.contains(bare.tag) ? bare.reference(DW_AT_type) : nil
    case .member(let name): next = Self.member(name, of: bare)?.reference(DW_AT_type)
    }
    return next.flatMap { target(of: steps.dropFirst(), from: $0) }
  }

  /// A member of a structure, also of an unnamed one inside of it, or of a base.
  private static func member(
    _ name: String, of structure: Dwarf_Die, depth: Int = 0
  ) -> Dwarf_Die? {
    guard structures.contains(structure.tag), depth < deepest else { return nil }
    var inner: [Dwarf_Die] = []
    for die in structure.children {
      if die.tag == DW_TAG_member {
        guard let found = die.string(DW_AT_name) else {
          die.reference(DW_AT_type).map { inner.append($0) }
          continue
        }
        if found == name { return die }
      } else if die.tag == DW_TAG_inheritance, let base = die.reference(DW_AT_type) {
        inner.append(base)
      }
    }
    for type in inner {
      if let found = member(name, of: bare(type), depth: depth + 1) { return found }
    }
    return nil
  }

  private func name(ofType type: Dwarf_Die, depth: Int = 0) -> String? {
    let type = Self.strip(type, Self.qualifiers)
    guard depth < Self.deepest else { return nil }
    if type.tag == DW_TAG_pointer_type {
      let target = type.reference(DW_AT_type).map { name(ofType: $0, depth: depth + 1) }
      // Without a type it is `void *`; pointers to functions have none that could be written so.
      guard let name = target ?? "void" else { return nil }
      return name.hasSuffix("*") ? "\(name)*" : "\(name) *"
    }
    if type.tag == DW_TAG_array_type {
      return type.reference(DW_AT_type).flatMap { name(ofType: $0, depth: depth + 1) }
        .map { "\($0)[]" }
    }
    guard let name = type.string(DW_AT_name) else { return nil }
    return isC ? (Self.keywords[type.tag] ?? "") + name : name
  }

  /// The type behind qualifiers and `typedef`.
  static func bare(_ type: Dwarf_Die) -> Dwarf_Die {
    strip(type, qualifiers.union([DW_TAG_typedef]))
  }

  private static func strip(_ type: Dwarf_Die, _ tags: Set<Int>) -> Dwarf_Die {
    var type = type
    for _ in 0..<deepest {
      guard tags.contains(type.tag), let next = type.reference(DW_AT_type) else { break }
      type = next
    }
    return type
  }

  private static func isC(_ language: Int) -> Bool {
    [DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11, DW_LANG_ObjC, lastC].contains(language)
  }

  /// `DW_LANG_C17`.
  private static let lastC = 0x2c
  private static let deepest = 64
  private static let pointers: Set<Int> = [DW_TAG_pointer_type, DW_TAG_array_type]
  private static let structures: Set<Int> = [
    DW_TAG_structure_type, DW_TAG_union_type, DW_TAG_class_type,
  ]
  static let qualifiers: Set<Int> = [
    DW_TAG_const_type, DW_TAG_volatile_type, DW_TAG_restrict_type, DW_TAG_atomic_type,
  ]
  private static let keywords: [Int: String] = [
    DW_TAG_structure_type: "struct ", DW_TAG_union_type: "union ",
    DW_TAG_enumeration_type: "enum ",
  ]
}
