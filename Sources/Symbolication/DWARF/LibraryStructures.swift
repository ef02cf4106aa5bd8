import CLibDW

/// The classes of libstdc++ in a unit of C++, by their names without default arguments.
///
/// Not those of libc++, whose containers have other nodes.
struct LibraryStructures {
  private var named: [String: Dwarf_Die] = [:]

  /// - Parameter unit: Its entry.
  /// - Complexity: O(*n*) in what is in the namespace `std`, but for what is in classes.
  init(of unit: Dwarf_Die) {
    guard unit.isCxx else { return }
    unit.forEachEntry { add($0, in: $1) }
  }

  /// The definition of a class: `std::string`, `std::pair<std::string const, app::Node>`.
  func structure(named name: String) -> Dwarf_Die? { named[Self.key(name)] }

  /// - Returns: What is in front of the names in an entry; nil for anything but namespaces in `std`.
  private mutating func add(_ die: Dwarf_Die, in path: String) -> String? {
    let tag = die.tag
    if tag == DW_TAG_namespace {
      guard let name = die.string(DW_AT_name), name != "__1", !path.isEmpty || name == "std" else {
        return nil
      }
      return path + name + "::"
    }
    guard !path.isEmpty, StructureMembers.structures.contains(tag), die.isDefinition,
      let name = die.string(DW_AT_name)
    else { return nil }
    let key = Self.key(CxxNames.short(path + name))
    if named[key] == nil { named[key] = die }
    return nil
  }

  /// A name as compilers and demanglers would write it alike: `Node const*` is `const Node *` elsewhere, and the
  /// layout of a class does not depend on it.
  private static func key(_ name: String) -> String {
    var scanner = TextScanner(name)
    var bytes: [UInt8] = []
    while let byte = scanner.current {
      let isWord = TextScanner.isIdentifier(byte)
      let start = scanner.position
      scanner.position += 1
      while isWord, let next = scanner.current, TextScanner.isIdentifier(next) {
        scanner.position += 1
      }
      let word = scanner.bytes[start..<scanner.position]
      if !word.elementsEqual("const".utf8) { bytes += word }
    }
    let key = UnitStructures.key(String(nameBytes: bytes))
    return TextSearch.holds(key, "{")
      ? key.replacing("{anonymous}", with: "(anonymousnamespace)") : key
  }
}
