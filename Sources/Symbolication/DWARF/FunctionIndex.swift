import CLibDW
import TraceReader

/// The functions of one compilation unit, found by address.
///
/// `dwarf_getscopes` walks the whole unit at each look-up; this walks it once.
struct FunctionIndex {
  /// A piece of a function's code; a function has several when it is split into hot and cold.
  struct Entry {
    let range: Range<UInt64>
    /// Where the function begins: offsets count from here.
    let start: UInt64
    let die: Dwarf_Die
  }

  private var entries: [Entry] = []

  /// Walks the unit; `enteringFunctions` says whether to look for functions inside of functions.
  init(of unit: Dwarf_Die, enteringFunctions: Bool) {
    var pending = [unit]
    var visited = 0
    while let parent = pending.popLast() {
      for die in parent.children {
        guard visited < Self.mostEntries else { break }
        visited += 1
        let tag = die.tag
        if tag == DW_TAG_subprogram {
          add(die)
          if enteringFunctions { pending.append(die) }
        } else if Self.scopes.contains(tag)
          || enteringFunctions && tag == DW_TAG_lexical_block
        {
          pending.append(die)
        }
      }
    }
    entries.sort { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// The function that covers an address.
  func entry(at address: UInt64) -> Entry? {
    let end = entries.partitioningIndex { $0.range.lowerBound > address }
    for index in stride(from: end - 1, to: max(-1, end - 9), by: -1)
    where entries[index].range.contains(address) {
      return entries[index]
    }
    return nil
  }

  private mutating func add(_ die: Dwarf_Die) {
    let ranges = die.codeRanges
    var copy = die
    var entryAddress = Dwarf_Addr()
    guard let first = ranges.first else { return }
    let start = dwarf_entrypc(&copy, &entryAddress) == 0 ? entryAddress : first.lowerBound
    for range in ranges { entries.append(Entry(range: range, start: start, die: die)) }
  }

  /// A bound for damaged files; the greatest units have some millions.
  private static let mostEntries = 50_000_000

  /// What functions can be inside of.
  private static let scopes: Set<Int> = [
    DW_TAG_namespace, DW_TAG_module, DW_TAG_class_type, DW_TAG_structure_type, DW_TAG_union_type,
    DW_TAG_enumeration_type, DW_TAG_interface_type, DW_TAG_variant_part, DW_TAG_variant,
  ]
}
