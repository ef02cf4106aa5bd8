import CLibDW

/// What lies where in a structure of C, C++ or Rust.
struct StructureMembers: MemberLayout {
  private let structure: Dwarf_Die
  private let define: (Dwarf_Die) -> Dwarf_Die?
  private let isRust: Bool
  private let isOfLibrary: Bool
  /// Its bytes.
  let size: UInt64

  /// - Parameters:
  ///   - type: A structure, or a `typedef` of one.
  ///   - isRust: Whether it is one of Rust.
  ///   - isOfLibrary: Whether it is one of the standard library of C++: its own members have no names then.
  ///   - define: The definition of a class that is only declared.
  init?(
    of type: Dwarf_Die, isRust: Bool = false, isOfLibrary: Bool = false,
    define: @escaping (Dwarf_Die) -> Dwarf_Die? = { _ in nil }
  ) {
    let bare = ObjectTypes.bare(type)
    guard Self.structures.contains(bare.tag), let size = Self.size(of: bare), size > 0 else {
      return nil
    }
    (structure, self.size, self.define) = (bare, size, define)
    (self.isRust, self.isOfLibrary) = (isRust, isOfLibrary)
  }

  /// The member that lies at an offset and may hold a pointer: `next`, `pair.first`, `slots[2]`.
  ///
  /// What libraries keep in their own classes has names that nobody knows: of a container the member of
  /// the program is named, `items` instead of `items._M_impl._M_start`.
  func member(at offset: UInt64) -> BlockMember? {
    var walk = MemberWalk(isRust: isRust, define: define)
    let depth = isOfLibrary ? 1 : 0
    guard let path = walk.path(to: offset, in: structure, depth: depth) else { return nil }
    let member = path.named(String(path.name.dropFirst()))
    return member == BlockMember() && !isOfLibrary ? nil : member
  }

  /// Whether no pointer can be at an offset, as far as all is known of what the structure holds.
  func isUnused(at offset: UInt64) -> Bool {
    guard hasWord(at: offset) else { return false }
    var walk = MemberWalk(isRust: isRust, isSure: true, define: define)
    return walk.path(to: offset, in: structure, depth: isOfLibrary ? 1 : 0) == nil && walk.isWhole
  }

  /// Bytes of a type; nil where it does not say.
  fileprivate static func size(of type: Dwarf_Die) -> UInt64? {
    var (type, size) = (type, Dwarf_Word())
    return dwarf_aggregate_size(&type, &size) == 0 ? size : arraySize(of: ObjectTypes.bare(type))
  }

  /// Bytes of an array of structures or numbers that a partial unit describes: it names no language, by which libdw
  /// knows that they count from 0.
  private static func arraySize(of array: Dwarf_Die) -> UInt64? {
    guard array.tag == DW_TAG_array_type, var element = array.reference(DW_AT_type) else {
      return nil
    }
    var bytes = Dwarf_Word()
    guard dwarf_aggregate_size(&element, &bytes) == 0 else { return nil }
    for die in array.children where die.tag == DW_TAG_subrange_type {
      let last = die.number(DW_AT_upper_bound).flatMap { UInt64(exactly: $0) }
      let count = die.number(DW_AT_count).flatMap { UInt64(exactly: $0) } ?? last.map { $0 + 1 }
      let product = count?.multipliedReportingOverflow(by: bytes)
      guard let product, !product.overflow else { return nil }
      bytes = product.partialValue
    }
    return bytes
  }

  /// Tags of what has members.
  static let structures: Set<Int> = [
    DW_TAG_structure_type, DW_TAG_union_type, DW_TAG_class_type,
  ]
}

/// The way from a structure to what lies at an offset of it.
private struct MemberWalk {
  /// A bound for damaged files, where a structure may hold itself.
  private var left = 500
  /// Whether all was looked at, and said where it is.
  private(set) var isWhole = true
  private let isRust: Bool
  /// Whether it is to be sure that what is passed over holds no pointer: numbers of more than 8 bytes may, but of a text
  /// only what says where its characters are.
  private let isSure: Bool
  private let define: (Dwarf_Die) -> Dwarf_Die?

  init(
    isRust: Bool, isSure: Bool = false, define: @escaping (Dwarf_Die) -> Dwarf_Die?
  ) {
    (self.isRust, self.isSure, self.define) = (isRust, isSure, define)
  }

  /// The rest of a path, `.next` or `[2].next`; empty where the type itself may be a pointer, nil where
  /// none can lie there.
  mutating func path(to offset: UInt64, in type: Dwarf_Die, depth: Int) -> BlockMember? {
    guard left > 0, depth < Self.deepest else {
      isWhole = false
      return nil
    }
    left -= 1
    let bare = ObjectTypes.bare(type)
    switch bare.tag {
    case let tag where StructureMembers.structures.contains(tag):
      if isSure, let end = endOfTextPointer(in: bare), offset >= end { return nil }
      let library = isRust ? bare.string(DW_AT_name) : nil
      let isWrapper = RustLibraries.isWrapper(library)
      var path = member(at: offset, of: bare, depth: depth, isWrapper: isWrapper)
      if isWeakPointer(bare) { path?.isWeak = true }
      if isCountedPointer(bare) { path?.isCounted = true }
      // What the standard library keeps in its own types has no name that the program knows.
      if depth > 0, !isWrapper, RustLibraries.isType(library) { path?.name = "" }
      return path
    case DW_TAG_array_type: return element(at: offset, of: bare, depth: depth)
    case let tag where Self.pointers.contains(tag): return offset == 0 ? BlockMember() : nil
    default:
      let size = StructureMembers.size(of: bare)
      if isSure, size ?? 8 >= 8 { return BlockMember() }
      return offset == 0 && size == 8 ? BlockMember() : nil
    }
  }

  /// Whether a class is one whose objects do not keep what they point to.
  private func isWeakPointer(_ structure: Dwarf_Die) -> Bool {
    guard let name = structure.string(DW_AT_name) else { return false }
    return isRust
      ? name.hasPrefix(RustLibraries.weakPointer)
      : Self.weakPointers.contains { name.hasPrefix($0) }
  }

  /// How many bytes of a `std::string` or one of its kind, of libstdc++, may hold pointers; nil for other classes.
  ///
  /// The address of its characters is in the first word, of `std::pmr::string` behind the allocator. How many there
  /// are follows, and a short text, or what was there before.
  private func endOfTextPointer(in structure: Dwarf_Die) -> UInt64? {
    guard !isRust, structure.string(DW_AT_name)?.hasPrefix("basic_string<") == true else {
      return nil
    }
    return structure.children.first { $0.string(DW_AT_name) == "_M_dataplus" }
      .flatMap { $0.reference(DW_AT_type) }.flatMap(StructureMembers.size(of:))
  }

  /// Whether a structure is one by which a value of Rust is shared that goes with the last of them.
  private func isCountedPointer(_ structure: Dwarf_Die) -> Bool {
    guard isRust, let name = structure.string(DW_AT_name) else { return false }
    return RustLibraries.countedPointers.contains { name.hasPrefix($0) }
  }

  /// The way to what lies at an offset of a structure; without the names of its own members where it is a wrapper.
  private mutating func member(
    at offset: UInt64, of structure: Dwarf_Die, depth: Int, isWrapper: Bool = false
  ) -> BlockMember? {
    var nearest: (start: UInt64, member: Dwarf_Die, type: Dwarf_Die)?
    for die in structure.children {
      let tag = die.tag
      if tag == DW_TAG_variant_part,
        let path = variant(at: offset, of: die, depth: depth, isWrapper)
      {
        return path
      }
      guard tag == DW_TAG_member || tag == DW_TAG_inheritance else { continue }
      guard let start = die.start(in: structure) else {
        if die.isSomewhere { isWhole = false }
        continue
      }
      guard start <= offset, let type = type(of: die) else { continue }
      if start >= nearest?.start ?? 0 { nearest = (start, die, type) }
      guard Self.covers(offset - start, type),
        let path = path(to: offset - start, through: die, of: type, depth: depth, isWrapper)
      else { continue }
      return path
    }
    // Of classes of libraries clang may say no more than that there are some.
    guard let nearest, Self.isDeclared(nearest.type) else { return nil }
    return Self.path(through: nearest.member, at: depth, before: BlockMember())
  }

  /// The member of one of the cases of an enum of Rust; where several have a pointer there, only that it is the
  /// enum's.
  private mutating func variant(
    at offset: UInt64, of part: Dwarf_Die, depth: Int, _ isWrapper: Bool
  ) -> BlockMember? {
    var found: BlockMember?
    for die in part.children {
      guard die.tag == DW_TAG_variant,
        let path = member(at: offset, of: die, depth: depth, isWrapper: isWrapper)
      else {
        continue
      }
      guard let known = found else {
        found = path
        continue
      }
      if known != path {
        found = BlockMember(
          isWeak: known.isWeak && path.isWeak, isCounted: known.isCounted && path.isCounted)
      }
    }
    return found
  }

  /// The type of a member or a base; bases are often described elsewhere.
  private func type(of member: Dwarf_Die) -> Dwarf_Die? {
    guard let type = member.reference(DW_AT_type), member.tag == DW_TAG_inheritance,
      Self.isDeclared(type)
    else { return member.reference(DW_AT_type) }
    return define(ObjectTypes.bare(type)) ?? type
  }

  private mutating func path(
    to offset: UInt64, through member: Dwarf_Die, of type: Dwarf_Die, depth: Int,
    _ isWrapper: Bool
  ) -> BlockMember? {
    let isNamed = member.tag == DW_TAG_member && member.string(DW_AT_name) != nil
    return path(to: offset, in: type, depth: depth + (isNamed ? 1 : 0)).map {
      isWrapper ? $0 : Self.path(through: member, at: depth, before: $0)
    }
  }

  /// A member with what follows; a base has none of its own, as little as a structure without one.
  private static func path(
    through member: Dwarf_Die, at depth: Int, before rest: BlockMember
  ) -> BlockMember {
    guard member.tag == DW_TAG_member, var name = member.string(DW_AT_name) else { return rest }
    // What has no name in Rust: the values of an enum's case, of a tuple.
    if name.hasPrefix("__"), name.dropFirst(2).allSatisfy(\.isNumber) { name.removeFirst(2) }
    let path = depth > 0 && isReserved(name) ? "" : ".\(name)\(rest.name)"
    return rest.named(path)
  }

  private mutating func element(at offset: UInt64, of array: Dwarf_Die, depth: Int) -> BlockMember?
  {
    guard let type = array.reference(DW_AT_type), let size = StructureMembers.size(of: type),
      size > 0
    else {
      return nil
    }
    // Room for something else, as `std::function` and small buffers have it.
    guard size >= 8 else { return BlockMember() }
    return path(to: offset % size, in: type, depth: depth + 1).map {
      $0.named("[\(offset / size)]\($0.name)")
    }
  }

  private static func covers(_ offset: UInt64, _ type: Dwarf_Die) -> Bool {
    guard let size = StructureMembers.size(of: type), size > 0 else {
      // At the end of a structure there may be an array without a length.
      return ObjectTypes.bare(type).tag == DW_TAG_array_type
    }
    return offset < size
  }

  /// Whether nothing is known of a structure but its name.
  private static func isDeclared(_ type: Dwarf_Die) -> Bool {
    StructureMembers.structures.contains(ObjectTypes.bare(type).tag)
      && StructureMembers.size(of: type) == nil
  }

  /// Names that the standards keep for compilers and libraries.
  private static func isReserved(_ name: String) -> Bool {
    guard name.hasPrefix("_"), let second = name.dropFirst().first else { return false }
    return second == "_" || second.isUppercase
  }

  private static let pointers: Set<Int> = [
    DW_TAG_pointer_type, DW_TAG_reference_type, DW_TAG_rvalue_reference_type,
  ]
  /// Of the standard library, Boost and Qt.
  private static let weakPointers = ["weak_ptr<", "QWeakPointer<", "QPointer<"]
  private static let deepest = 24
}

extension Dwarf_Die {
  /// Where a member or a base begins; nil for `static` ones, bit-fields, and where only an object tells.
  fileprivate func start(in structure: Dwarf_Die) -> UInt64? {
    if let place = number(DW_AT_data_member_location) { return UInt64(exactly: place) }
    guard structure.tag == DW_TAG_union_type, !has(DW_AT_external) else { return nil }
    return 0
  }

  /// Whether a member or a base without a place is in the objects all the same, and may be a pointer.
  ///
  /// So are a virtual base, bits of an address, and all members in the DWARF of long ago; `static` ones are not.
  fileprivate var isSomewhere: Bool {
    if tag == DW_TAG_inheritance { return true }
    guard !has(DW_AT_external), !has(DW_AT_declaration) else { return false }
    return number(DW_AT_bit_size).map { $0 > 32 } ?? true
  }
}
