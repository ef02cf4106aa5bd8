/// What lies in generic structures, and in properties whose types depend on the arguments of their class.
extension SwiftLayouts {
  /// A value of a generic structure, and whether it ends with what is known.
  struct GenericValue {
    var known: SwiftCapturedValues.Sequence
    var isWhole = true
  }

  /// Adds what lies in properties of which a file told the name of the type only.
  ///
  /// - Parameters:
  ///   - fields: The stored properties of a type.
  ///   - type: The whole name of that type, with its arguments.
  /// - Returns: All of them, behind each what lies in it.
  func expanded(_ fields: [SwiftField], of type: String) -> [SwiftField] {
    guard fields.contains(where: { $0.typeName != nil }) else { return fields }
    return fields.flatMap { field in
      guard let name = field.typeName else { return [field] }
      var own = field
      own.typeName = nil
      return expanded(own, named: name, in: type)
    }
  }

  private func expanded(_ field: SwiftField, named name: String, in type: String) -> [SwiftField] {
    let content = Self.withoutOptional(name)
    let argument = Self.replacingParameters(of: type, in: content ?? name)
    let whole = Self.withoutOptional(argument)
    guard let value = generic(named: whole ?? argument, depth: 0) else { return [field] }
    let isOptional = content != nil || whole != nil
    let declared = content.map { Self.withoutOptional($0) ?? $0 } ?? name
    let isOwn = Self.module(declared) == Self.module(type) || Self.isTransparent(declared)
    var fields = Self.expanded(field, value, isOptional: isOptional, isOwn: isOwn)
    if !isOwn, SwiftField.isOfRuntime(Self.module(declared)) {
      for index in fields.indices { fields[index].name = field.name }
    }
    guard content != nil,
      let optional = elementTypes.valueLayout(named: "Swift.Optional<\(argument)>"),
      let tag = optional.fields.last, tag.name.isEmpty, tag.offset == value.known.size
    else { return fields }
    let place = SwiftField(name: field.name, offset: field.offset + tag.offset, ownership: .number)
    return fields + [place]
  }

  private static func expanded(
    _ field: SwiftField, _ value: GenericValue, isOptional: Bool, isOwn: Bool
  ) -> [SwiftField] {
    let known = value.known
    var own = field
    if own.ownership == .strong { own.ownership = known.ownership }
    own.countedReference = own.countedReference ?? known.countedReference
    let isExact = value.isWhole && known.isExact && !isOptional
    if isExact, 1..<8 ~= known.size { own.ownership = .number }
    var fields = [own]
    for inner in known.fields {
      var placed = inner
      placed.name = SwiftField.path(
        field.name, isOwn ? inner.name : SwiftField.publicPart(of: inner.name))
      placed.offset += field.offset
      // What is not there may have left something.
      if isOptional { placed.countedReference = nil }
      fields.append(placed)
    }
    let end = field.offset + known.size
    if !value.isWhole {
      fields.append(SwiftField(name: field.name, offset: end))
    } else if isExact, known.size > 8, end % 8 != 0 {
      fields.append(SwiftField(name: field.name, offset: end & ~7, ownership: .number))
    }
    return fields
  }

  /// A value of any type, as far as it is known what is in it.
  private func generic(named name: String, depth: Int) -> GenericValue? {
    if let value = value(named: name, depth: depth) { return GenericValue(known: value) }
    return structure(named: name, depth: depth)
  }

  /// A value of a generic structure; nil for others.
  func structure(named name: String, depth: Int) -> GenericValue? {
    guard depth < Self.deepestStructure, let members = members(named: name) else { return nil }
    var known = SwiftCapturedValues.Sequence()
    for member in members {
      var member = member
      member.fields = expanded(member.fields, of: name)
      let value =
        SwiftCapturedValues.Sequence(member)
        ?? member.typeName.flatMap {
          self.value(named: Self.replacingParameters(of: name, in: $0), depth: depth + 1)
        }
      guard let value, known.add(value, named: member.name) else {
        return GenericValue(known: known, isWhole: false)
      }
    }
    return GenericValue(known: known)
  }

  /// What lies in an optional of a structure; nil for other types.
  func optional(named name: String, depth: Int) -> SwiftElements? {
    guard depth < Self.deepestStructure, let content = Self.withoutOptional(name) else {
      return nil
    }
    return value(named: content, depth: depth + 1)?.optional.map(SwiftElements.init)
  }

  private func members(named name: String) -> [SwiftMember]? {
    guard let generic = SwiftGenericTypes.name(of: name) else { return nil }
    return elementTypes.images(defining: generic).lazy.compactMap {
      self.symbolicator?.swiftMembers(ofGeneric: generic, in: $0)
    }.first
  }

  /// Structures are not nested deeper; only a damaged file says so.
  static let deepestStructure = 16

  /// Whether what lies in a value is the program's: in its own arguments, what a `Mutex` guards, tuples.
  private static func isTransparent(_ name: String) -> Bool {
    !name.contains(".") || name.hasPrefix("(") || isLibraryValue(name)
  }

  private static func module(_ name: String) -> Substring { name.prefix { $0 != "." } }

  /// The type of what an optional has; nil for others.
  static func withoutOptional(_ name: String) -> String? {
    guard case .named("Swift.Optional", let arguments) = SwiftTypeParts(name[...]).form else {
      return nil
    }
    return arguments.first.map(String.init)
  }

  /// Puts the arguments of a type in the place of the parameters in the name of one of its properties' types.
  private static func replacingParameters(of type: String, in name: String) -> String {
    guard SwiftGenericTypes.name(of: type) != nil,
      case .named(_, let arguments) = SwiftTypeParts(type[...]).form, arguments.count <= 26
    else { return name }
    let letters = arguments.indices.map { String(Unicode.Scalar(UInt8(ascii: "A") + UInt8($0))) }
    return GenericParameters.replacing(letters, by: arguments.map(String.init), in: name)
  }
}
