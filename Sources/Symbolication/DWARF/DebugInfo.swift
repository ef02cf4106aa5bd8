import CLibDW
import Glibc
import TraceReader

/// The DWARF of one file: from an address to functions and lines.
final class DebugInfo {
  /// One function at an address.
  struct Frame {
    let function: FunctionName?
    /// Where the function begins; `nil` for an inlined one.
    let start: UInt64?
    let location: SourceLocation?
    /// Whether it is declared as what allocates for its callers is; `nil` where that is not known.
    let isAllocationWrapper: Bool?

    init(function: FunctionName?, start: UInt64?, location: SourceLocation?, die: Dwarf_Die? = nil)
    {
      (self.function, self.start, self.location) = (function, start, location)
      isAllocationWrapper = die.flatMap(AllocationWrapper.isOne)
    }
  }

  private struct UnitRange {
    let range: Range<UInt64>
    let unit: Int
  }

  private let file: ELFFile
  private let dwarf: OpaquePointer
  private let shared: SharedDebugInfo?
  private var units: [CompilationUnit] = []
  private var ranges: [UnitRange] = []
  private lazy var unitsByRoot = Dictionary(
    units.enumerated().map { ($0.element.root.addr, $0.offset) },
    uniquingKeysWith: { first, _ in first })
  /// Classes that were looked for in all units.
  private var classes: [String: Dwarf_Die?] = [:]
  /// By the entries of units.
  private var declaredClasses: [UnsafeMutableRawPointer?: DeclaredClasses] = [:]
  /// Units that do not say what they cover: they are asked when no other one does.
  private var unrangedUnits: [Int] = []

  /// Opens the DWARF of a file; `nil` when it has none.
  init?(file: ELFFile, locator: DebugFileLocator = DebugFileLocator(directories: [])) {
    guard let dwarf = dwarf_begin_elf(file.handle, DWARF_C_READ, nil) else { return nil }
    self.file = file
    self.dwarf = dwarf
    shared = SharedDebugInfo(of: dwarf, in: file, locator: locator)
    indexUnits()
    if units.isEmpty { return nil }
  }

  deinit {
    dwarf_end(dwarf)
  }

  /// The functions at an address, innermost first; empty where nothing is known.
  func frames(at address: UInt64) -> [Frame] {
    guard let unit = unit(at: address) else { return [] }
    guard let function = unit.function(at: address) else {
      // Assembler has lines but no functions.
      guard let location = unit.location(of: address, functionStart: address) else { return [] }
      return [Frame(function: nil, start: nil, location: location)]
    }
    var frames: [Frame] = []
    let inlinedCalls = Self.inlinedCalls(in: function.die, at: address)
    var location =
      if let innermost = inlinedCalls.last {
        unit.location(of: address, inInlined: innermost)
      } else {
        unit.location(of: address, in: function) { at in
          Self.inlinedCalls(in: function.die, at: at).isEmpty
        }
      }
    for inlined in inlinedCalls.reversed() {
      frames.append(
        Frame(
          function: declaringUnit(of: inlined, in: unit).name(of: inlined), start: nil,
          location: location, die: inlined))
      location = unit.callLocation(of: inlined)
    }
    frames.append(
      Frame(
        function: declaringUnit(of: function.die, in: unit).name(of: function.die),
        start: function.start, location: location, die: function.die))
    return frames
  }

  /// The name of the type of an object that the code at an address speaks of.
  ///
  /// - Parameters:
  ///   - object: As the source spells it.
  ///   - address: An ELF address.
  ///   - position: Which of the functions at the address is meant, as in ``frames(at:)``.
  /// - Returns: nil where that is not known.
  func typeName(of object: ObjectExpression, at address: UInt64, in position: Int) -> String? {
    guard let unit = unit(at: address),
      let scopes = scopes(of: unit, at: address, in: position), let function = scopes.last
    else { return nil }
    return ObjectTypes(scopes: scopes, unit: declaringUnit(of: function, in: unit).root).name(
      of: object)
  }

  /// The name of a class of C++ with the namespaces and classes that it is in.
  ///
  /// - Parameters:
  ///   - type: As the source at the address spells it.
  ///   - function: The function at the address, without parameters.
  ///   - address: An ELF address.
  ///   - position: Which of the functions at the address is meant, as in ``frames(at:)``.
  /// - Returns: nil where the source spells it in full, or no class, or more than one, can be meant.
  func wholeName(
    ofClass type: String, in function: String, at address: UInt64, in position: Int
  ) -> String? {
    guard let source = source(at: address, in: position) else { return nil }
    lazy var allScopes = source.scopes.map {
      $0 + $0.compactMap { $0.reference(DW_AT_abstract_origin) }
    }
    let name = source.unit.classes.whole(type, in: function) { name in
      // Without the scopes of the code nothing says that the name is no other's.
      allScopes.map { ClassNames.isLocal(name, in: $0) } ?? true
    }
    return name == type ? nil : name
  }

  /// The type that a class template gives a name to, in one of its instances.
  ///
  /// - Parameters:
  ///   - alias: The name, as the source at the address spells it.
  ///   - function: The function at the address, without parameters.
  ///   - address: An ELF address.
  ///   - position: Which of the functions at the address is meant, as in ``frames(at:)``.
  /// - Returns: nil where the classes that the function is in give no such name.
  func typeName(
    ofAlias alias: String, in function: String, at address: UInt64, in position: Int
  ) -> String? {
    source(at: address, in: position)?.unit.classAliases.type(alias, in: function)
  }

  /// The members of a structure that the code at an address may speak of.
  ///
  /// - Parameters:
  ///   - type: The name of the structure.
  ///   - isCxx: Whether it is one of C++ or Rust, where a name means the same in all units: compilers describe a class
  ///     with virtual functions only in the unit that defines these.
  ///   - address: An ELF address.
  /// - Returns: nil where no unit that was looked at defines it.
  func members(of type: String, isCxx: Bool, at address: UInt64) -> StructureMembers? {
    guard let unit = unit(at: address) else { return nil }
    let units = [unit] + origins(of: unit, at: address)
    if isCxx, type.hasPrefix("std::"),
      let found = units.lazy.compactMap({ $0.libraryStructures.structure(named: type) }).first
    {
      return StructureMembers(of: found, isOfLibrary: true) { self.definition(of: $0) }
    }
    let found =
      units.lazy.compactMap { $0.structures.structure(named: type) }.first
      ?? (isCxx ? classOfAnyUnit(type) : nil)
    let isOfLibrary = unit.isRust && RustLibraries.isType(type) && !RustLibraries.isWrapper(type)
    return found.flatMap {
      StructureMembers(of: $0, isRust: unit.isRust, isOfLibrary: isOfLibrary) {
        self.definition(of: $0)
      }
    }
  }

  /// The unit whose source has one of the functions at an address, and the scopes of that code where they are known.
  private func source(
    at address: UInt64, in position: Int
  ) -> (unit: CompilationUnit, scopes: [Dwarf_Die]?)? {
    guard let unit = unit(at: address) else { return nil }
    let scopes = scopes(of: unit, at: address, in: position)
    return (scopes?.last.map { declaringUnit(of: $0, in: unit) } ?? unit, scopes)
  }

  /// The unit whose source has a function of a unit: optimisation while linking makes units of code alone.
  private func declaringUnit(of function: Dwarf_Die, in unit: CompilationUnit) -> CompilationUnit {
    unitsByRoot[function.declaration.unit.addr].map { units[$0] } ?? unit
  }

  /// The other units that the functions at an address come from, innermost first: optimisation while linking makes
  /// units of their code that have no types.
  private func origins(of unit: CompilationUnit, at address: UInt64) -> [CompilationUnit] {
    guard let function = unit.function(at: address) else { return [] }
    var known: Set = [unit.root.addr]
    let functions = [function.die] + Self.inlinedCalls(in: function.die, at: address)
    return functions.reversed().map { declaringUnit(of: $0, in: unit) }
      .filter { known.insert($0.root.addr).inserted }
  }

  /// A class that one of the units defines; the first ones only in large programs.
  private func classOfAnyUnit(_ name: String) -> Dwarf_Die? {
    guard !name.hasPrefix("std::"), !TextSearch.holds(name, "(anonymous namespace)") else {
      return nil
    }
    if let known = classes[name] { return known }
    var entries = 0
    var found: Dwarf_Die?
    for unit in units where (unit.isCxx || unit.isRust) && entries < Self.mostEntries {
      found = unit.structures.definition(of: name)
      if found != nil { break }
      entries += unit.structures.entryCount
    }
    classes[name] = .some(found)
    return found
  }

  /// The definition of a class that a unit only declares.
  private func definition(of declaration: Dwarf_Die) -> Dwarf_Die? {
    let root = declaration.unit
    let declared = declaredClasses[root.addr] ?? DeclaredClasses(of: root)
    declaredClasses[root.addr] = declared
    return declared.name(of: declaration).flatMap(classOfAnyUnit)
  }

  /// So many are read in less than a second.
  private static let mostEntries = 2_000_000

  /// The scopes of one of the functions at an address: the blocks around it, the innermost first, and the function.
  private func scopes(
    of unit: CompilationUnit, at address: UInt64, in position: Int
  ) -> [Dwarf_Die]? {
    guard let function = unit.function(at: address) else { return nil }
    // Each function with the blocks of its own that are around the address, outermost first.
    var functions = [[function.die]]
    for scope in Self.scopes(in: function.die, at: address) {
      if scope.tag == DW_TAG_inlined_subroutine { functions.append([]) }
      functions[functions.count - 1].append(scope)
    }
    guard functions.indices.contains(position) else { return nil }
    return functions[functions.count - 1 - position].reversed()
  }

  // MARK: Inlined calls

  /// The calls that were inlined at an address, outermost first.
  private static func inlinedCalls(in function: Dwarf_Die, at address: UInt64) -> [Dwarf_Die] {
    scopes(in: function, at: address).filter { $0.tag == DW_TAG_inlined_subroutine }
  }

  /// The blocks and inlined calls of a function that cover an address, outermost first.
  private static func scopes(in function: Dwarf_Die, at address: UInt64) -> [Dwarf_Die] {
    var result: [Dwarf_Die] = []
    var scope = function
    for _ in 0..<deepestNesting {
      let inner = scope.children.first { codeScopes.contains($0.tag) && $0.covers(address) }
      guard let inner else { break }
      result.append(inner)
      scope = inner
    }
    return result
  }

  private static let deepestNesting = 1024

  private static let codeScopes: Set<Int> = [
    DW_TAG_inlined_subroutine, DW_TAG_lexical_block, DW_TAG_try_block, DW_TAG_catch_block,
    DW_TAG_with_stmt,
  ]

  // MARK: Units

  /// `dwarf_addrdie` needs `.debug_aranges`, which clang does not write.
  private func indexUnits() {
    var unit: OpaquePointer?
    var (version, kind): (Dwarf_Half, UInt8) = (0, 0)
    while units.count < Self.mostUnits {
      var (next, root, split): (OpaquePointer?, Dwarf_Die, Dwarf_Die) = (nil, .init(), .init())
      guard dwarf_get_units(dwarf, unit, &next, &version, &kind, &root, &split) == 0 else { break }
      unit = next
      let tag = root.tag
      guard tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit else { continue }
      let hasSplit = split.addr != nil
      units.append(CompilationUnit(skeleton: root, root: hasSplit ? split : root))
      let covered = root.codeRanges
      for range in covered { ranges.append(UnitRange(range: range, unit: units.count - 1)) }
      if covered.isEmpty { unrangedUnits.append(units.count - 1) }
    }
    ranges.sort { $0.range.lowerBound < $1.range.lowerBound }
  }

  private static let mostUnits = 1 << 20

  private func unit(at address: UInt64) -> CompilationUnit? {
    let end = ranges.partitioningIndex { $0.range.lowerBound > address }
    for index in stride(from: end - 1, to: max(-1, end - 9), by: -1)
    where ranges[index].range.contains(address) {
      return units[ranges[index].unit]
    }
    for index in unrangedUnits where units[index].function(at: address) != nil {
      return units[index]
    }
    return nil
  }
}
