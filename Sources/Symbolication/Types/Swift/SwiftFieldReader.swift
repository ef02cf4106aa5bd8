/// Reads the stored properties of Swift classes from the reflection data of their image.
///
/// Of a structure among them its own properties are read as well, as they lie in the object: where
/// these are small numbers or references that hold nothing, so they are there.
///
/// ```
/// class descriptor   +0 flags  +16 field descriptor (relative)  +36 number of fields
///                    +40 where in the metadata the offsets of the fields are, in words
/// structure          +16 field descriptor, as in classes
/// field descriptor   +10 size of a record (u16)  +12 number of records, then the records:
///                    +0 flags  +4 mangled type (relative)  +8 name (relative)
/// ```
/// Source: `include/swift/ABI/Metadata.h` and `include/swift/RemoteInspection/Records.h` of the
/// Swift repository.
struct SwiftFieldReader {
  private let contents: ELFContents
  private let values: SwiftValueMetadata
  private let types: SwiftPropertyTypes

  /// No class has more stored properties of its own than this, those of structures included; only a
  /// damaged file says so.
  private static let greatestCount = 4096
  /// Nor are structures within structures deeper.
  private static let greatestDepth = 16

  /// - Parameters:
  ///   - contents: The file.
  ///   - values: Its structures and enums.
  ///   - symbol: The symbol that the dynamic linker puts the address of at an address.
  ///   - variable: The symbol of a variable that begins at an address.
  init(
    _ contents: ELFContents, values: SwiftValueMetadata, symbol: @escaping (UInt64) -> String?,
    variable: @escaping (UInt64) -> String?
  ) {
    self.contents = contents
    self.values = values
    types = SwiftPropertyTypes(contents, symbol: symbol, variable: variable)
  }

  /// The stored properties that a class adds to those of its superclass.
  ///
  /// - Parameters:
  ///   - descriptor: The ELF address of its descriptor.
  ///   - metadata: The ELF address of its metadata.
  ///   - offsets: Where the properties are; empty to read that from the metadata.
  /// - Returns: In order of declaration, behind a structure its own; empty where the file does not say.
  func fields(descriptor: UInt64, metadata: UInt64, offsets: [UInt64]) -> [SwiftField] {
    guard let flags = contents.integer(UInt32.self, at: descriptor), flags & 0x1f == 16,
      !offsets.isEmpty || flags & Self.hasResilientSuperclass == 0,
      let vector = contents.integer(UInt32.self, at: descriptor &+ 40)
    else { return [] }
    let module = contents.swiftModule(of: descriptor)
    var fields: [SwiftField] = []
    for (number, record) in records(of: descriptor).enumerated() {
      let place = metadata &+ (UInt64(vector) &+ UInt64(number)) &* 8
      let known = number < offsets.count ? offsets[number] : nil
      guard
        let offset = offsets.isEmpty ? contents.integer(UInt64.self, at: place) : known,
        offset >= 16, offset < 1 << 32, let name = name(record)
      else { continue }
      add(SwiftField(name: name, offset: offset), record, module, to: &fields)
    }
    return fields
  }

  /// The stored properties of a structure.
  ///
  /// - Parameter descriptor: The ELF address of its descriptor.
  /// - Returns: nil where the file does not say how far elements of an array are from each other.
  func elements(descriptor: UInt64) -> SwiftElements? {
    guard let stride = values.stride(of: descriptor) else { return nil }
    let module = contents.swiftModule(of: descriptor)
    var fields: [SwiftField] = []
    for (offset, record) in zip(values.offsets(of: descriptor), records(of: descriptor)) {
      guard let name = name(record) else { continue }
      add(SwiftField(name: name, offset: UInt64(offset)), record, module, to: &fields)
    }
    if let end = lastPartialWord(of: descriptor, stride: stride) {
      fields.append(SwiftField(name: "", offset: end, ownership: .number))
    }
    return SwiftElements(stride: stride, fields: fields)
  }

  /// The word with the tag of an enum, or the last small number of a structure, where elements consist of words.
  private func lastPartialWord(of descriptor: UInt64, stride: UInt64) -> UInt64? {
    guard stride % 8 == 0, let size = values.size(of: descriptor, isOptional: false) else {
      return nil
    }
    return Self.partialWord(from: 0, size: size)
  }

  /// The stored properties of a generic structure, whatever its arguments are, or that an enum is one reference.
  ///
  /// - Parameter descriptor: The ELF address of its descriptor.
  /// - Returns: nil where the size depends on the arguments, or is not known.
  func elements(genericDescriptor descriptor: UInt64) -> SwiftElements? {
    if contents.integer(UInt32.self, at: descriptor).map({ $0 & 0x1f == 18 }) == true {
      return isReference(enumAt: descriptor) ? SwiftElements(stride: 8) : nil
    }
    let (fields, size) = references(of: descriptor)
    guard size > 0, fields.count == records(of: descriptor).count else { return nil }
    return SwiftElements(stride: size, fields: fields)
  }

  /// The stored properties of a generic structure.
  ///
  /// - Parameter descriptor: The ELF address of its descriptor.
  /// - Returns: In order of declaration; nil where they are not known, and where there are none: what such a structure
  ///   has without properties (`@_rawLayout`) no file says.
  func members(genericDescriptor descriptor: UInt64) -> [SwiftMember]? {
    guard contents.integer(UInt32.self, at: descriptor).map({ $0 & 0x1f == 17 }) == true else {
      return nil
    }
    let module = contents.swiftModule(of: descriptor)
    var members: [SwiftMember] = []
    for record in records(of: descriptor) {
      guard let name = name(record) else { return nil }
      var member = SwiftMember(fields: [], typeName: types.name(ofRecord: record))
      add(SwiftField(name: name, offset: 0), record, module, to: &member.fields)
      (member.size, member.alignment) = size(of: types.type(ofRecord: record))
      members.append(member)
    }
    return members.isEmpty ? nil : members
  }

  /// How many bytes a property takes, and on a multiple of what it lies.
  private func size(of type: SwiftPropertyTypes.PropertyType) -> (UInt64?, alignment: UInt64) {
    if let size = type.size { return (size, min(size, 8)) }
    guard let value = type.value, let alignment = values.alignment(of: value) else {
      return (nil, 8)
    }
    return (values.size(of: value, isOptional: type.isOptional), alignment)
  }

  /// Whether all cases of an enum that have a value are `indirect`.
  private func isReference(enumAt descriptor: UInt64) -> Bool {
    let cases = records(of: descriptor).filter { contents.relative(at: $0 &+ 4) != nil }
    return !cases.isEmpty
      && cases.allSatisfy {
        contents.integer(UInt32.self, at: $0).map { $0 & Self.isIndirectCase != 0 } == true
      }
  }

  private static let isIndirectCase: UInt32 = 1

  /// The first properties of a generic structure, as long as all of them take whole words, and the bytes of these.
  private func references(of descriptor: UInt64) -> (fields: [SwiftField], size: UInt64) {
    var (fields, size): ([SwiftField], UInt64) = ([], 0)
    for record in records(of: descriptor) {
      let type = types.type(ofRecord: record)
      guard let name = name(record), let own = type.size, own % 8 == 0 else { break }
      fields.append(SwiftField(name: name, offset: size, ownership: type.ownership))
      size += own
    }
    return (fields, size)
  }

  /// Bit 29: the field offsets are counted from the end of a superclass that another image defines.
  private static let hasResilientSuperclass: UInt32 = 1 << 29

  /// Adds a property, and what is known of the words that it takes.
  ///
  /// - Parameters:
  ///   - field: Its name and place.
  ///   - record: The address of its record.
  ///   - module: The module of the class, whose structures are looked into by name.
  ///   - fields: What to add to.
  ///   - depth: In how many structures it lies.
  ///   - isInternal: Whether it lies in a property that another module keeps for itself, whose name is not told.
  ///   - isCertain: Whether none of these is an optional one, which may be missing.
  private func add(
    _ field: SwiftField, _ record: UInt64, _ module: [UInt8]?, to fields: inout [SwiftField],
    depth: Int = 0, isInternal: Bool = false, isCertain: Bool = true
  ) {
    guard fields.count < Self.greatestCount else { return }
    let type = types.type(ofRecord: record)
    fields.append(
      SwiftField(
        name: field.name, offset: field.offset, ownership: type.ownership,
        countedReference: isCertain ? type.countedReference : nil,
        typeName: isCertain ? type.name : nil))
    guard let value = type.value else { return }
    if let size = values.size(of: value, isOptional: type.isOptional),
      let end = Self.partialWord(from: field.offset, size: size)
    {
      fields.append(SwiftField(name: field.name, offset: end, ownership: .number))
    }
    guard depth < Self.greatestDepth else { return }
    let own = contents.swiftModule(of: value)
    let isOwn = own == module
    let isOfRuntime =
      own.map { SwiftField.isOfRuntime(String(decoding: $0, as: UTF8.self)) } == true
    for (offset, member) in zip(values.offsets(of: value), records(of: value)) {
      guard let name = name(member) else { continue }
      let isInternal = isInternal || !isOwn && (isOfRuntime || SwiftField.isInternal(name))
      let inner = SwiftField(
        name: isInternal ? field.name : "\(field.name).\(name)",
        offset: field.offset &+ UInt64(offset))
      add(
        inner, member, module, to: &fields, depth: depth + 1, isInternal: isInternal,
        isCertain: isCertain && !type.isOptional)
    }
  }

  /// The word at the end of a value of which the value does not take all bytes: no pointer is in it.
  private static func partialWord(from offset: UInt64, size: UInt64) -> UInt64? {
    let end = offset &+ size
    let word = end & ~7
    return end % 8 != 0 && word >= offset ? word : nil
  }

  /// The addresses of the records of a type's stored properties.
  private func records(of descriptor: UInt64) -> [UInt64] {
    guard let fields = contents.relative(at: descriptor &+ 16),
      let size = contents.integer(UInt16.self, at: fields &+ 10), size >= 12,
      let count = contents.integer(UInt32.self, at: fields &+ 12), count <= Self.greatestCount
    else { return [] }
    return (0..<UInt64(count)).map { fields &+ 16 &+ $0 &* UInt64(size) }
  }

  /// The name of a property as the source has it: a `lazy` one is stored under a name of the
  /// compiler's.
  private func name(_ record: UInt64) -> String? {
    guard let text = contents.relative(at: record &+ 8).flatMap(contents.text) else { return nil }
    let name = String(decoding: text, as: UTF8.self)
    let prefix = "$__lazy_storage_$_"
    return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }
}
