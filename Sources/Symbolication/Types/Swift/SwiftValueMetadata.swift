/// The structures and enums of Swift that an ELF file defines, as far as they have one form.
///
/// Those of generic types, and of types with parts whose size only the runtime knows, are not there.
///
/// ```
/// metadata           -8 value witnesses  +0 kind  +8 descriptor
/// value witnesses    +64 size  +72 from one to the next in an array  +80 alignment - 1 (u8)
///                    +84 how many values of other types fit into unused bits (u32)
/// structure          +24 where in the metadata the offsets (u32) of the properties are, in words
/// ```
/// Source: `include/swift/ABI/Metadata.h` and `include/swift/ABI/ValueWitness.def` of the Swift
/// repository.
struct SwiftValueMetadata {
  /// How many bytes a value takes.
  private struct Size {
    var bytes: UInt64
    /// Whether an optional needs a byte of its own to say that there is none.
    var isFull: Bool
  }

  private let contents: ELFContents
  /// The symbol that the dynamic linker puts the address of at an address.
  private let symbol: (UInt64) -> String?
  /// The metadata of a type by the address of its descriptor.
  private var metadata: [UInt64: UInt64] = [:]

  private static let structureKind: UInt64 = 0x200
  private static let enumKind: UInt64 = 0x201

  /// Looks for metadata in all that the dynamic linker writes addresses to.
  ///
  /// - Parameters:
  ///   - contents: The file.
  ///   - symbol: The symbol that the dynamic linker puts the address of at an address.
  init(_ contents: ELFContents, symbol: @escaping (UInt64) -> String?) {
    self.contents = contents
    self.symbol = symbol
    var found: [UInt64: UInt64] = [:]
    var isBehindKind = false
    contents.forEachWritableWord { address, word in
      if isBehindKind, Self.isDescriptor(word, contents) { found[word] = address &- 8 }
      isBehindKind = word == Self.structureKind || word == Self.enumKind
    }
    metadata = found
  }

  private static func isDescriptor(_ address: UInt64, _ contents: ELFContents) -> Bool {
    guard address & 3 == 0, let flags = contents.integer(UInt32.self, at: address) else {
      return false
    }
    return flags & 0x1f == 17 || flags & 0x1f == 18
  }

  /// The bytes of a value.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor of its type.
  ///   - isOptional: Whether an optional of it is meant.
  /// - Returns: nil where that is not known.
  func size(of descriptor: UInt64, isOptional: Bool) -> UInt64? {
    guard let metadata = metadata[descriptor], let size = size(ofMetadata: metadata) else {
      return nil
    }
    return size.bytes + (isOptional && size.isFull ? 1 : 0)
  }

  /// How far structures or enums are from each other in an array.
  ///
  /// - Parameter descriptor: The descriptor of their type.
  /// - Returns: nil where that is not known.
  func stride(of descriptor: UInt64) -> UInt64? {
    guard let metadata = metadata[descriptor] else { return nil }
    if let symbol = symbol(metadata &- 8) { return Self.sizes[symbol]?.bytes }
    guard let witnesses = contents.integer(UInt64.self, at: metadata &- 8), witnesses != 0,
      let stride = contents.integer(UInt64.self, at: witnesses &+ 72), 1..<1 << 32 ~= stride
    else { return nil }
    return stride
  }

  /// On a multiple of what a value lies.
  ///
  /// - Parameter descriptor: The descriptor of its type.
  /// - Returns: nil where that is not known.
  func alignment(of descriptor: UInt64) -> UInt64? {
    guard let metadata = metadata[descriptor] else { return nil }
    if let symbol = symbol(metadata &- 8) { return Self.sizes[symbol].map { min($0.bytes, 8) } }
    guard let witnesses = contents.integer(UInt64.self, at: metadata &- 8), witnesses != 0,
      let flags = contents.integer(UInt32.self, at: witnesses &+ 80)
    else { return nil }
    return UInt64(flags & 0xff) + 1
  }

  /// The descriptors by the names of their types, with those of all that they are in: `app.Outer.Inner`.
  ///
  /// A name that several types have, those of different files for example, is left out.
  func descriptors() -> [String: UInt64] {
    var found: [String: UInt64?] = [:]
    for descriptor in metadata.keys {
      guard let name = contents.swiftPath(of: descriptor) else { continue }
      found[name] = found[name] == nil ? .some(descriptor) : .some(nil)
    }
    return found.compactMapValues { $0 }
  }

  private func size(ofMetadata metadata: UInt64) -> Size? {
    if let symbol = symbol(metadata &- 8) { return Self.sizes[symbol] }
    guard let witnesses = contents.integer(UInt64.self, at: metadata &- 8), witnesses != 0,
      let bytes = contents.integer(UInt64.self, at: witnesses &+ 64), bytes < 1 << 32,
      let others = contents.integer(UInt32.self, at: witnesses &+ 84)
    else { return nil }
    return Size(bytes: bytes, isFull: others == 0)
  }

  /// The bytes of a value.
  ///
  /// - Parameters:
  ///   - witnesses: The value witnesses of its type.
  ///   - contents: The file that holds them.
  /// - Returns: nil where there are none.
  static func size(ofWitnesses witnesses: UInt64, in contents: ELFContents) -> UInt64? {
    guard let bytes = contents.integer(UInt64.self, at: witnesses &+ 64),
      let stride = contents.integer(UInt64.self, at: witnesses &+ 72),
      1..<1 << 32 ~= stride, bytes <= stride
    else { return nil }
    return bytes
  }

  /// Types that consist of one number, one reference, or one function share the witnesses of the runtime.
  private static let sizes: [String: Size] = [
    "$sBoWV": Size(bytes: 8, isFull: false), "$sBbWV": Size(bytes: 8, isFull: false),
    "$syycWV": Size(bytes: 16, isFull: false),
    "$sBi8_WV": Size(bytes: 1, isFull: true), "$sBi16_WV": Size(bytes: 2, isFull: true),
    "$sBi32_WV": Size(bytes: 4, isFull: true), "$sBi64_WV": Size(bytes: 8, isFull: true),
    "$sBi128_WV": Size(bytes: 16, isFull: true),
  ]

  /// Where the stored properties of a structure are in it, in order of declaration.
  ///
  /// - Returns: Empty for an enum, and where they are not known.
  func offsets(of descriptor: UInt64) -> [UInt32] {
    guard let metadata = metadata[descriptor],
      contents.integer(UInt64.self, at: metadata) == Self.structureKind,
      let count = contents.integer(UInt32.self, at: descriptor &+ 20), count < 1 << 12,
      let vector = contents.integer(UInt32.self, at: descriptor &+ 24), vector < 1 << 16
    else { return [] }
    let start = metadata &+ UInt64(vector) &* 8
    let offsets = (0..<UInt64(count)).map { contents.integer(UInt32.self, at: start &+ $0 &* 4) }
    let known = offsets.compactMap { $0 }
    // The runtime fills them in where the compiler could not.
    let isKnown = known.count == offsets.count && known == known.sorted()
    return isKnown && (known.count < 2 || known.last != 0) ? known : []
  }
}
