import TraceReader

/// A stored property of a Swift class.
public struct SwiftField: Sendable, Hashable {
  /// How a property refers to an object.
  public enum Ownership: Sendable, Hashable {
    /// Holds it, or is no reference at all.
    case strong
    /// `weak`: points to the object's side table.
    case weak
    /// `unowned`, `unowned(unsafe)` or an `ObjectIdentifier`: points to the object and does not hold
    /// it.
    case unowned
    /// Holds whatever conforms to a protocol, with its metadata three words behind the property's
    /// beginning, unless the protocol is one of classes only.
    case existential
    /// Is a number of less than a word, an enum without payloads, or an optional one of these.
    case number
    /// Is an optional number of a word, with a tag in the word behind it.
    case optionalNumber
  }

  /// The name in the source.
  public var name: String
  /// Where it is in an object, in bytes.
  public var offset: UInt64
  /// How it refers to an object.
  public var ownership: Ownership

  /// Where a word begins in an object that is no pointer, although it may look like one: in the bytes
  /// behind a small number, or a tag, stands what was there before.
  public var numberOffset: UInt64? {
    switch ownership {
    case .number: offset % 8 == 0 ? offset : nil
    case .optionalNumber: offset % 8 == 0 ? offset &+ 8 : nil
    case .strong, .weak, .unowned, .existential: nil
    }
  }

  /// Makes a field.
  public init(name: String, offset: UInt64, ownership: Ownership = .strong) {
    self.name = name
    self.offset = offset
    self.ownership = ownership
  }
}

/// A Swift class whose stored properties are looked for.
public struct SwiftClassReference: Sendable, Hashable {
  /// Its descriptor.
  public var descriptor: Address
  /// Its metadata; of a generic class perhaps in no image.
  public var metadata: Address
  /// Where its stored properties are, where the trace says it; else the metadata in the file do.
  public var offsets: [UInt64]

  /// Names a class.
  public init(descriptor: Address, metadata: Address, offsets: [UInt64] = []) {
    self.descriptor = descriptor
    self.metadata = metadata
    self.offsets = offsets
  }
}

/// Reads the stored properties of Swift classes from the reflection data of their image.
///
/// ```
/// class descriptor   +0 flags  +16 field descriptor (relative)  +36 number of fields
///                    +40 where in the metadata the offsets of the fields are, in words
/// field descriptor   +10 size of a record (u16)  +12 number of records, then the records:
///                    +0 flags  +4 mangled type (relative)  +8 name (relative)
/// ```
/// Source: `include/swift/ABI/Metadata.h` and `include/swift/RemoteInspection/Records.h` of the
/// Swift repository.
struct SwiftFieldReader {
  private let contents: ELFContents
  /// The symbol that the dynamic linker puts the address of at an address.
  private let symbol: (UInt64) -> String?

  /// No class has more stored properties of its own than this; only a damaged file says so.
  private static let greatestCount: UInt32 = 4096

  init(_ contents: ELFContents, symbol: @escaping (UInt64) -> String?) {
    self.contents = contents
    self.symbol = symbol
  }

  /// The stored properties that a class adds to those of its superclass.
  ///
  /// - Parameters:
  ///   - descriptor: The ELF address of its descriptor.
  ///   - metadata: The ELF address of its metadata.
  ///   - offsets: Where the properties are; empty to read that from the metadata.
  /// - Returns: In order of declaration; empty where the file does not say.
  func fields(descriptor: UInt64, metadata: UInt64, offsets: [UInt64]) -> [SwiftField] {
    guard let flags = contents.integer(UInt32.self, at: descriptor), flags & 0x1f == 16,
      !offsets.isEmpty || flags & Self.hasResilientSuperclass == 0,
      let fields = contents.relative(at: descriptor &+ 16),
      let vector = contents.integer(UInt32.self, at: descriptor &+ 40),
      let recordSize = contents.integer(UInt16.self, at: fields &+ 10), recordSize >= 12,
      let count = contents.integer(UInt32.self, at: fields &+ 12), count <= Self.greatestCount
    else { return [] }
    return (0..<UInt64(count)).compactMap { number in
      let record = fields &+ 16 &+ number &* UInt64(recordSize)
      let place = metadata &+ (UInt64(vector) &+ number) &* 8
      let known = number < offsets.count ? offsets[Int(number)] : nil
      guard
        let offset = offsets.isEmpty ? contents.integer(UInt64.self, at: place) : known,
        offset >= 16, offset < 1 << 32,
        let name = contents.relative(at: record &+ 8).flatMap(contents.text)
      else { return nil }
      return SwiftField(
        name: Self.nameInSource(String(decoding: name, as: UTF8.self)), offset: offset,
        ownership: ownership(record))
    }
  }

  /// A `lazy` property is stored under a name of the compiler's.
  private static func nameInSource(_ name: String) -> String {
    let prefix = "$__lazy_storage_$_"
    return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }

  /// Bit 29: the field offsets are counted from the end of a superclass that another image defines.
  private static let hasResilientSuperclass: UInt32 = 1 << 29

  /// How a property refers to an object, by its mangled type.
  ///
  /// References to other descriptors in it are a byte below 0x20 with 4 or 8 bytes behind it, in
  /// which zeros do not end the text.
  private func ownership(_ record: UInt64) -> SwiftField.Ownership {
    guard let start = contents.relative(at: record &+ 4) else { return .strong }
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
    return Self.ownership(endOfType: text) ?? ownership(ofTypeNamed: contents.text(at: start))
      ?? ownership(ofTypeAt: start, behind: text)
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
    case "SO", "SOSg": .unowned
    case "Sb", "SbSg", "Sf", "SfSg": .number
    case "SiSg", "SuSg", "SdSg": .optionalNumber
    default: nil
    }
  }

  /// What a type tells that is one descriptor alone, or an optional of it.
  ///
  /// - Parameters:
  ///   - start: Where the mangled type begins.
  ///   - rest: What stands behind the last reference to a descriptor.
  /// - Returns: `strong` where the type tells nothing.
  private func ownership(ofTypeAt start: UInt64, behind rest: [UInt8]) -> SwiftField.Ownership {
    let isOptional = rest == Array("Sg".utf8)
    guard isOptional || rest.isEmpty,
      contents.integer(UInt8.self, at: start &+ 5 &+ UInt64(rest.count)) == 0,
      let target = contents.relative(at: start &+ 1)
    else { return .strong }
    switch contents.integer(UInt8.self, at: start) {
    case 1: return ownership(ofTypeWith: target, isOptional: isOptional)
    case 2:
      if let symbol = symbol(target) { return Self.ownership(symbol, isOptional: isOptional) }
      guard let descriptor = contents.integer(UInt64.self, at: target), descriptor != 0 else {
        return .strong
      }
      return ownership(ofTypeWith: descriptor, isOptional: isOptional)
    default: return .strong
    }
  }

  /// What a type of the standard library tells, by the symbol of its descriptor.
  private static func ownership(_ symbol: String, isOptional: Bool) -> SwiftField.Ownership {
    if smallNumbers.contains(symbol) { return .number }
    return isOptional && wholeNumbers.contains(symbol) ? .optionalNumber : .strong
  }

  private static let smallNumbers = Set(
    ["4Int8V", "5UInt8V", "5Int16V", "6UInt16V", "5Int32V", "6UInt32V", "7Float16V"].map {
      "$ss\($0)Mn"
    } + ["$ss7UnicodeO6ScalarVMn"])
  private static let wholeNumbers: Set<String> = ["$ss5Int64VMn", "$ss6UInt64VMn"]

  /// What a type tells whose descriptor is in the same image.
  ///
  /// ```
  /// type descriptor    +0 flags  +4 parent (relative)  +8 name (relative)
  /// enum descriptor    +20 number of cases with a payload (24 bits)
  /// ```
  /// An enum without payloads takes at most 4 bytes.
  private func ownership(
    ofTypeWith descriptor: UInt64, isOptional: Bool
  ) -> SwiftField.Ownership {
    guard let flags = contents.integer(UInt32.self, at: descriptor) else { return .strong }
    switch flags & 0x1f {
    case 17:
      guard let parent = contents.relative(at: descriptor &+ 4), name(parent, kind: 0) == "Swift",
        let name = name(descriptor, kind: 17)
      else { return .strong }
      return Self.ownership("$ss\(name.utf8.count)\(name)VMn", isOptional: isOptional)
    case 18:
      return contents.integer(UInt32.self, at: descriptor &+ 20).map { $0 & 0xff_ffff } == 0
        ? .number : .strong
    default: return .strong
    }
  }

  /// The name of a module or a type; nil where the descriptor is of another kind.
  private func name(_ descriptor: UInt64, kind: UInt32) -> String? {
    guard contents.integer(UInt32.self, at: descriptor).map({ $0 & 0x1f }) == kind else {
      return nil
    }
    return contents.relative(at: descriptor &+ 8).flatMap(contents.text)
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

extension BidirectionalCollection<UInt8> {
  fileprivate func ends(with suffix: String) -> Bool {
    self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
}
