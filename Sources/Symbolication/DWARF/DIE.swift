import CLibDW
import Glibc

/// Reading of one debugging information entry.
extension Dwarf_Die {
  /// The tag, for example `DW_TAG_subprogram`; 0 when it cannot be read.
  var tag: Int {
    var die = self
    return Int(dwarf_tag(&die))
  }

  /// The entries that lie in this one itself, in their order.
  var children: DIEChildren { DIEChildren(of: self) }

  fileprivate var firstChild: Dwarf_Die? {
    var (die, child) = (self, Dwarf_Die())
    return dwarf_child(&die, &child) == 0 ? child : nil
  }

  fileprivate var nextSibling: Dwarf_Die? {
    var (die, sibling) = (self, Dwarf_Die())
    return dwarf_siblingof(&die, &sibling) == 0 ? sibling : nil
  }

  /// A string attribute of the entry, or of the one that it is an instance of.
  func string(_ attribute: Int) -> String? {
    var (die, found) = (self, Dwarf_Attribute())
    guard dwarf_attr_integrate(&die, UInt32(attribute), &found) != nil,
      let text = dwarf_formstring(&found)
    else { return nil }
    return String(cString: text)
  }

  /// A number attribute of the entry itself.
  func number(_ attribute: Int) -> Int? {
    var (die, found, value) = (self, Dwarf_Attribute(), Dwarf_Word())
    guard dwarf_attr(&die, UInt32(attribute), &found) != nil,
      dwarf_formudata(&found, &value) == 0
    else { return nil }
    return Int(exactly: value)
  }

  /// Whether the entry has an attribute, of whatever form: a flag is no number.
  func has(_ attribute: Int) -> Bool {
    var die = self
    return dwarf_hasattr(&die, UInt32(attribute)) != 0
  }

  /// A number attribute of the entry, or of the one that it is an instance of.
  func integratedNumber(_ attribute: Int) -> Int? {
    var (die, found, value) = (self, Dwarf_Attribute(), Dwarf_Word())
    guard dwarf_attr_integrate(&die, UInt32(attribute), &found) != nil,
      dwarf_formudata(&found, &value) == 0
    else { return nil }
    return Int(exactly: value)
  }

  /// The entry that an attribute of the entry, or of the one that it is an instance of, names.
  func reference(_ attribute: Int) -> Dwarf_Die? {
    var (die, found, target) = (self, Dwarf_Attribute(), Dwarf_Die())
    guard dwarf_attr_integrate(&die, UInt32(attribute), &found) != nil,
      dwarf_formref_die(&found, &target) != nil
    else { return nil }
    return target
  }

  /// Whether the entry's code covers an address.
  func covers(_ address: UInt64) -> Bool {
    var die = self
    return dwarf_haspc(&die, address) == 1
  }

  /// The addresses of the entry's code; empty ones and such as the linker discarded are left out.
  var codeRanges: [Range<UInt64>] {
    var die = self
    var (base, start, end) = (Dwarf_Addr(), Dwarf_Addr(), Dwarf_Addr())
    var ranges: [Range<UInt64>] = []
    var offset = 0
    while ranges.count < Self.mostRanges {
      offset = dwarf_ranges(&die, offset, &base, &start, &end)
      guard offset > 0 else { break }
      // Discarded functions are left at 0 or near the greatest address.
      if start != 0, start < end { ranges.append(start..<end) }
    }
    return ranges
  }

  private static let mostRanges = 1 << 20

  /// The name: the mangled one where there is one, else the plain one.
  var functionName: FunctionName? {
    let plain = string(DW_AT_name)
    guard let linkageName else { return plain.map { FunctionName(plain: $0) } }
    let name = Demangler.name(of: linkageName)
    guard let plain else { return name }
    switch name.language {
    // An assembler name such as glibc's `__GI_fwrite` says less than the source's.
    case .plain: return FunctionName(plain: plain)
    case .rust: return RustNames.complete(name, withDebugName: plain)
    case .cxx, .swift, .d: return name
    }
  }

  /// The mangled name; nil where there is none.
  var linkageName: String? { string(DW_AT_linkage_name) ?? string(DW_AT_MIPS_linkage_name) }

  /// The entry that says the name: of inlined code the one that it is an instance of.
  var namedEntry: Dwarf_Die {
    tag == DW_TAG_inlined_subroutine ? reference(DW_AT_abstract_origin) ?? self : self
  }

  /// Where the entry begins in its section, which no other entry does.
  var offset: Dwarf_Off {
    var die = self
    return dwarf_dieoffset(&die)
  }

  /// The entry that stands where the source declares the function; itself where it does.
  var declaration: Dwarf_Die {
    var die = self
    for _ in 0..<Self.mostReferences {
      guard let next = die.reference(DW_AT_specification) ?? die.reference(DW_AT_abstract_origin)
      else { break }
      die = next
    }
    return die
  }

  /// The entry of the unit that it is in.
  var unit: Dwarf_Die {
    var (die, unit) = (self, Dwarf_Die())
    _ = dwarf_diecu(&die, &unit, nil, nil)
    return unit
  }

  private static let mostReferences = 8
}

/// The entries that lie in another one itself.
struct DIEChildren: Sequence, IteratorProtocol {
  private var upcoming: Dwarf_Die?

  fileprivate init(of parent: Dwarf_Die) { upcoming = parent.firstChild }

  mutating func next() -> Dwarf_Die? {
    defer { upcoming = upcoming?.nextSibling }
    return upcoming
  }
}
