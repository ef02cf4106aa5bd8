/// Reads what the types of stored properties tell of the words that they take.
struct SwiftPropertyTypes {
  /// What is known of the type of a property.
  struct PropertyType {
    /// How it refers to an object.
    var ownership: SwiftField.Ownership
    /// The ELF address of the descriptor of the structure or enum that it is, or an optional of.
    var value: UInt64?
    /// Whether it is an optional.
    var isOptional = false
    /// Its name, where nothing else is known.
    var name: String?
    /// How many bytes it takes, where that is one or two words as the name tells.
    var size: UInt64?
    /// Where in it the reference is that its object counts: of an instance of a class, or the context of a
    /// function.
    var countedReference: UInt64?
  }

  /// A type that is one descriptor alone, or an optional of it.
  private struct Named {
    /// The symbol of a descriptor of another image.
    var symbol: String?
    /// The ELF address of one of this image.
    var descriptor: UInt64?
    var isOptional: Bool
  }

  private static let classKind: UInt32 = 16

  private let contents: ELFContents
  /// The symbol that the dynamic linker puts the address of at an address.
  private let symbol: (UInt64) -> String?
  /// The symbol of a variable that begins at an address.
  private let variable: (UInt64) -> String?

  init(
    _ contents: ELFContents, symbol: @escaping (UInt64) -> String?,
    variable: @escaping (UInt64) -> String?
  ) {
    self.contents = contents
    self.symbol = symbol
    self.variable = variable
  }

  /// The type of a property, by the mangled name in its record.
  ///
  /// References to other descriptors in it are a byte below 0x20 with 4 or 8 bytes behind it, in
  /// which zeros do not end the text.
  func type(ofRecord record: UInt64) -> PropertyType {
    guard let start = contents.relative(at: record &+ 4) else {
      return PropertyType(ownership: .strong)
    }
    var text: [UInt8] = []
    var address = start
    while address &- start < 1024, let byte = contents.integer(UInt8.self, at: address), byte != 0 {
      switch byte {
      case 0x01...0x17: (text, address) = ([], address &+ 5)
      case 0x18...0x1f: (text, address) = ([], address &+ 9)
      default:
        text.append(byte)
        address &+= 1
      }
    }
    let known = Self.ownership(endOfType: text) ?? ownership(ofTypeNamed: contents.text(at: start))
    let size = size(ofTypeAt: start, behind: text)
    if let known { return PropertyType(ownership: known, size: size) }
    if let named = named(typeAt: start, behind: text) {
      var type = type(named)
      // Of a structure or an enum of a library only the name is known.
      if type.ownership == .strong, type.value == nil, type.countedReference == nil {
        type.name = name(ofRecord: record)
      }
      return type
    }
    let isReference =
      isGenericClass(at: start, behind: text) || Self.isAnyObject(text)
      || isCollection(at: start, behind: text)
    if isReference { return PropertyType(ownership: .strong, size: 8, countedReference: 0) }
    if Self.isFunction(text) {
      return PropertyType(ownership: .strong, size: 16, countedReference: 8)
    }
    return PropertyType(ownership: .strong, name: name(ofRecord: record), size: size)
  }

  /// The name of the type of a property; nil where something in it is not known.
  ///
  /// Of what cannot be copied there is only a function that returns the type, behind the byte 9. The symbol of this
  /// reference has the type in it, as long as the file is not stripped.
  func name(ofRecord record: UInt64) -> String? {
    guard let start = contents.relative(at: record &+ 4) else { return nil }
    guard contents.integer(UInt8.self, at: start) == 9 else {
      return SwiftMangledType.name(at: start, in: contents, symbol: symbol)
    }
    let parts = variable(start)?.split(separator: " ") ?? []
    guard parts.count > 1, parts[0] == "get_type_metadata" else { return nil }
    return SwiftTypeNames.wholeName(ofCapture: String(parts[1]))
  }

  /// Whether a mangled type is that of functions with a context, or of optional ones, by what stands behind the
  /// last reference to a descriptor.
  private static func isFunction(_ text: [UInt8]) -> Bool {
    let value = text.ends(with: "Sg") ? text.dropLast(2) : text[...]
    // `Bc`, `Sc` and `Xc` are other types, or parts of them.
    return value.last == UInt8(ascii: "c") && !"BSX".utf8.contains(value.dropLast().last ?? 0)
  }

  /// Whether a mangled type is an array, a dictionary or a set, or an optional one: one reference.
  private func isCollection(at start: UInt64, behind rest: [UInt8]) -> Bool {
    let value = rest.ends(with: "Sg") ? rest.dropLast(2) : rest[...]
    let front = (0..<3).map { contents.integer(UInt8.self, at: start &+ $0) }
    return value.last == UInt8(ascii: "G") && front[0] == UInt8(ascii: "S")
      && front[1].map { "aDh".utf8.contains($0) } == true && front[2] == UInt8(ascii: "y")
  }

  private static func isAnyObject(_ text: [UInt8]) -> Bool {
    ["yXl", "yXlSg"].contains { text.elementsEqual($0.utf8) }
  }

  /// How many bytes a value takes where that is a reference, or the mangled type tells without referring to
  /// descriptors.
  private func size(ofTypeAt start: UInt64, behind rest: [UInt8]) -> UInt64? {
    if ["Xw", "Xo", "Xu"].contains(where: rest.ends) {
      let object = rest.dropLast(rest.dropLast(2).ends(with: "Sg") ? 4 : 2)
      // With protocols it takes more: what tells how the object conforms to them.
      let isOfProtocols = ["p", "Xc", "Xl"].contains { object.ends(with: $0) }
      return isOfProtocols && !object.elementsEqual("yXl".utf8) ? nil : 8
    }
    guard contents.integer(UInt8.self, at: start).map({ $0 >= 0x20 }) == true else { return nil }
    return SwiftCaptureLayout.size(of: String(decoding: rest, as: UTF8.self)[...])
  }

  /// Whether a type is a generic class, by where its mangled name begins and what stands behind the last reference to
  /// a descriptor: there is one to the class, then `y`, its arguments, `G`, and `Sg` for an optional.
  private func isGenericClass(at start: UInt64, behind rest: [UInt8]) -> Bool {
    guard ["G", "GSg"].contains(where: rest.ends),
      contents.integer(UInt8.self, at: start &+ 5) == UInt8(ascii: "y"),
      let target = contents.relative(at: start &+ 1)
    else { return false }
    switch contents.integer(UInt8.self, at: start) {
    case 1: return isGenericClass(descriptor: target)
    case 2:
      if let symbol = symbol(target) { return symbol.hasSuffix("CMn") }
      return contents.integer(UInt64.self, at: target).map(isGenericClass(descriptor:)) ?? false
    default: return false
    }
  }

  private func isGenericClass(descriptor: UInt64) -> Bool {
    contents.integer(UInt32.self, at: descriptor).map {
      $0 & SwiftGenericTypes.isGeneric != 0 && $0 & 0x1f == Self.classKind
    } ?? false
  }

  /// What the end of a property's mangled type tells.
  ///
  /// That is `Xw`, `Xo` or `Xu` for `weak`, `unowned` and `unowned(unsafe)`; `p` for a list of
  /// protocols, but for one of metatypes (`Xp`). The type of an identifier is `SO`. An optional one
  /// has `Sg` behind it.
  ///
  /// - Parameter text: What stands behind the last reference to a descriptor.
  /// - Returns: nil where it tells nothing.
  private static func ownership(endOfType text: [UInt8]) -> SwiftField.Ownership? {
    let value = text.ends(with: "Sg") ? text.dropLast(2) : text[...]
    if text.ends(with: "Xw") { return .weak }
    if text.ends(with: "Xo") || text.ends(with: "Xu") { return .unowned }
    guard value.last == UInt8(ascii: "p") else { return nil }
    // `Bp`, `Sp` and `Qp` are pointers and packs.
    return "XBSQ".utf8.contains(value.dropLast().last ?? 0) ? nil : .existential
  }

  /// What the whole of a mangled type tells, where it refers to no descriptor.
  ///
  /// `SO` is an identifier. `Sb` and `Sf` are `Bool` and `Float`; `Si`, `Su` and `Sd` are `Int`, `UInt`
  /// and `Double`, which may hold the bits of a pointer, other than their tags when they are optional.
  private func ownership(ofTypeNamed text: [UInt8]?) -> SwiftField.Ownership? {
    switch text.map({ String(decoding: $0, as: UTF8.self) }) {
    case "SO", "SOSg": .identifier
    case "Sb", "SbSg", "Sf", "SfSg": .number
    case "SiSg", "SuSg", "SdSg": .optionalNumber
    default: nil
    }
  }

  /// The descriptor that a type is.
  ///
  /// - Parameters:
  ///   - start: Where the mangled type begins.
  ///   - rest: What stands behind the last reference to a descriptor.
  /// - Returns: nil where it is something else.
  private func named(typeAt start: UInt64, behind rest: [UInt8]) -> Named? {
    let isOptional = rest == Array("Sg".utf8)
    guard isOptional || rest.isEmpty,
      contents.integer(UInt8.self, at: start &+ 5 &+ UInt64(rest.count)) == 0,
      let target = contents.relative(at: start &+ 1)
    else { return nil }
    switch contents.integer(UInt8.self, at: start) {
    case 1: return Named(descriptor: target, isOptional: isOptional)
    case 2:
      if let symbol = symbol(target) { return Named(symbol: symbol, isOptional: isOptional) }
      guard let descriptor = contents.integer(UInt64.self, at: target), descriptor != 0 else {
        return nil
      }
      return Named(descriptor: descriptor, isOptional: isOptional)
    default: return nil
    }
  }

  /// What a descriptor tells.
  ///
  /// ```
  /// type descriptor    +0 flags  +4 parent (relative)  +8 name (relative)
  /// enum descriptor    +20 number of cases with a payload (24 bits)
  /// ```
  /// An enum without payloads takes at most 4 bytes.
  private func type(_ named: Named) -> PropertyType {
    if let symbol = named.symbol {
      return PropertyType(
        ownership: Self.ownership(symbol, isOptional: named.isOptional),
        countedReference: symbol.hasSuffix("CMn") ? 0 : nil)
    }
    guard let descriptor = named.descriptor,
      let kind = contents.integer(UInt32.self, at: descriptor).map({ $0 & 0x1f })
    else { return PropertyType(ownership: .strong) }
    var type = PropertyType(ownership: .strong, isOptional: named.isOptional)
    switch kind {
    case 17 where contents.swiftModule(of: descriptor) == Array("Swift".utf8):
      let name =
        contents.swiftName(of: descriptor).map { String(decoding: $0, as: UTF8.self) } ?? ""
      type.ownership = Self.ownership(
        "$ss\(name.utf8.count)\(name)VMn", isOptional: named.isOptional)
    case 18 where contents.integer(UInt32.self, at: descriptor &+ 20).map { $0 & 0xff_ffff } == 0:
      type.ownership = .number
    case 17, 18: type.value = descriptor
    case 16: (type.size, type.countedReference) = (8, 0)
    default: break
    }
    return type
  }

  /// What a type of a library tells, by the symbol of its descriptor.
  private static func ownership(_ symbol: String, isOptional: Bool) -> SwiftField.Ownership {
    if smallNumbers.contains(symbol) { return .number }
    return isOptional && wholeNumbers.contains(symbol) ? .optionalNumber : .strong
  }

  private static let smallNumbers = Set(
    ["4Int8V", "5UInt8V", "5Int16V", "6UInt16V", "5Int32V", "6UInt32V", "7Float16V"].map {
      "$ss\($0)Mn"
    } + ["$ss7UnicodeO6ScalarVMn"])
  private static let wholeNumbers: Set<String> = [
    "$ss5Int64VMn", "$ss6UInt64VMn", "$s20FoundationEssentials4DateVMn",
  ]
}

extension ELFContents {
  /// The module of a type, by its descriptor; nil where the file does not say.
  ///
  /// Parents are reached directly, or with the lowest bit set by a word with the address.
  func swiftModule(of descriptor: UInt64) -> [UInt8]? {
    swiftContexts(of: descriptor)?.last.flatMap(swiftName)
  }

  /// The name of a type with those of all that it is in, by its descriptor.
  ///
  /// What is private is in a context without a name.
  ///
  /// - Returns: nil in extensions, and where the file does not say.
  func swiftPath(of descriptor: UInt64) -> String? {
    guard let contexts = swiftContexts(of: descriptor) else { return nil }
    var names: [String] = []
    for context in contexts {
      let kind = integer(UInt32.self, at: context).map { $0 & 0x1f }
      if kind == 2 { continue }
      guard kind != 1, let name = swiftName(of: context) else { return nil }
      names.append(String(decoding: name, as: UTF8.self))
    }
    return names.reversed().joined(separator: ".")
  }

  /// A descriptor and those of all that it is in, the module's last; nil where the file does not say.
  private func swiftContexts(of descriptor: UInt64) -> [UInt64]? {
    var contexts = [descriptor]
    for _ in 0..<16 {
      let context = contexts[contexts.count - 1]
      guard let flags = integer(UInt32.self, at: context) else { return nil }
      if flags & 0x1f == 0 { return contexts }
      guard let parent = relative(at: context &+ 4) else { return nil }
      let word = parent & 1 == 1 ? integer(UInt64.self, at: parent & ~1) : parent
      guard let word, word != 0 else { return nil }
      contexts.append(word)
    }
    return nil
  }

  /// The name of a module or a type, by its descriptor.
  func swiftName(of descriptor: UInt64) -> [UInt8]? { relative(at: descriptor &+ 8).flatMap(text) }
}

extension BidirectionalCollection<UInt8> {
  fileprivate func ends(with suffix: String) -> Bool {
    self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
}
