import CLibDW

/// One compilation unit: its functions and its lines, read when first needed.
final class CompilationUnit {
  /// The unit's entry in the file itself: it has the line table.
  private let skeleton: Dwarf_Die
  /// The entry that has the functions; another one where DWARF is split into `.dwo` files.
  let root: Dwarf_Die
  private var shallowIndex: FunctionIndex?
  private var deepIndex: FunctionIndex?
  /// The classes in it, where it is of C++.
  private(set) lazy var classes = ClassNames(of: root)
  /// The structures in it.
  private(set) lazy var structures = UnitStructures(of: root)
  /// The names that its class templates give to types.
  private(set) lazy var classAliases = ClassAliases(structures)
  /// The classes of the standard library in it, where it is of C++.
  private(set) lazy var libraryStructures = LibraryStructures(of: root)
  /// Whether it is of C++.
  private(set) lazy var isCxx = root.isCxx
  private(set) lazy var isRust = root.isRust
  /// What functions without mangled names are declared in.
  private(set) lazy var functionScopes = FunctionScopes(of: root)
  /// Names of functions, by the entries that say them.
  var functionNames: [UnsafeMutableRawPointer?: FunctionName?] = [:]
  /// Relative paths are relative to this; libdw adds it to most of them, not to all.
  private let directory: String?

  init(skeleton: Dwarf_Die, root: Dwarf_Die) {
    self.skeleton = skeleton
    self.root = root
    directory = skeleton.string(DW_AT_comp_dir)
  }

  /// The innermost function that is not inlined and covers an address.
  func function(at address: UInt64) -> FunctionIndex.Entry? {
    let shallow = shallowIndex ?? FunctionIndex(of: root, enteringFunctions: false)
    shallowIndex = shallow
    if let found = shallow.entry(at: address) { return found }
    // Functions inside functions are GNU C's and rare: look for them only after a miss.
    let deep = deepIndex ?? FunctionIndex(of: root, enteringFunctions: true)
    deepIndex = deep
    return deep.entry(at: address)
  }

  /// The line of an address.
  ///
  /// Code that belongs to no line takes the line before it of the same file, down to `start` of
  /// the function. What the compiler made without a source has no location.
  func location(of address: UInt64, functionStart start: UInt64) -> SourceLocation? {
    location(of: address, downTo: start, path: nil) { _ in true }
  }

  /// The line of an address where nothing was inlined.
  ///
  /// What the compiler made within a function, as it makes much of Swift's, takes the line before it
  /// of the function's own file, else that of the function's declaration. So does what it has inlined of a header of
  /// the system's without saying so: gcc names no function of such a line at times.
  ///
  /// - Parameters:
  ///   - address: An ELF address.
  ///   - function: The function that covers it.
  ///   - isOwn: Whether nothing was inlined at an address of the function either.
  /// - Returns: nil where the debug information does not tell it.
  func location(
    of address: UInt64, in function: FunctionIndex.Entry, isOwn: (UInt64) -> Bool
  ) -> SourceLocation? {
    let exact = location(of: address, functionStart: address)
    let isLeftOver = exact.map { FrameClassifier.isOfLibraries($0.path) } == true
    if let exact, exact.line > 0, !isLeftOver { return exact }
    guard let declared = declaration(of: function.die) else {
      return location(of: address, functionStart: function.start)
    }
    if isLeftOver, FrameClassifier.isOfLibraries(declared.path) { return exact }
    let own = location(of: address, downTo: function.start, path: declared.path, where: isOwn)
    return own.flatMap { $0.line > 0 ? $0 : nil } ?? declared
  }

  /// The line of an address in what was inlined.
  ///
  /// What the compiler made in it takes the line of the declaration: lines before it are often those of other
  /// functions, also where the code is said to belong to this one.
  ///
  /// - Parameters:
  ///   - address: An ELF address.
  ///   - inlined: The innermost of the functions that were inlined there.
  /// - Returns: nil where the debug information does not tell it.
  func location(of address: UInt64, inInlined inlined: Dwarf_Die) -> SourceLocation? {
    let exact = location(of: address, functionStart: address)
    return exact.map { $0.line > 0 } ?? true ? exact : declaration(of: inlined)
  }

  private func location(
    of address: UInt64, downTo start: UInt64, path: String?, where isWanted: (UInt64) -> Bool
  ) -> SourceLocation? {
    var unit = skeleton
    var (lines, count): (OpaquePointer?, Int) = (nil, 0)
    guard dwarf_getsrclines(&unit, &lines, &count) == 0, let lines, count > 0 else { return nil }
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      guard let at = Self.address(of: dwarf_onesrcline(lines, middle)) else { return nil }
      if at <= address { low = middle + 1 } else { high = middle }
    }
    var fallback: SourceLocation?
    var path = path
    for index in stride(from: low - 1, to: max(-1, low - 65), by: -1) {
      guard let line = dwarf_onesrcline(lines, index), let at = Self.address(of: line),
        at >= start || path == nil, !Self.endsSequence(line)
      else { break }
      let location = location(of: line)
      // Another file would be that of another inlined function.
      path = path ?? location?.path
      guard let path else { break }
      guard let location, location.path == path, isWanted(at) else { continue }
      if location.line > 0 { return location }
      fallback = location
    }
    return fallback
  }

  /// Where a function is declared.
  private func declaration(of function: Dwarf_Die) -> SourceLocation? {
    guard let index = function.integratedNumber(DW_AT_decl_file),
      let line = function.integratedNumber(DW_AT_decl_line), line > 0,
      let path = path(ofFile: index, in: root) ?? path(ofFile: index, in: skeleton)
    else { return nil }
    return SourceLocation(path: path, line: line, column: 0)
  }

  /// Where a call that was inlined stands in the source.
  func callLocation(of inlined: Dwarf_Die) -> SourceLocation? {
    guard let index = inlined.number(DW_AT_call_file),
      let path = path(ofFile: index, in: root) ?? path(ofFile: index, in: skeleton)
    else { return nil }
    return SourceLocation(
      path: path, line: inlined.number(DW_AT_call_line) ?? 0,
      column: inlined.number(DW_AT_call_column) ?? 0)
  }

  private func path(ofFile index: Int, in unit: Dwarf_Die) -> String? {
    var unit = unit
    var (files, count): (OpaquePointer?, Int) = (nil, 0)
    guard dwarf_getsrcfiles(&unit, &files, &count) == 0, let files, (0..<count).contains(index),
      let path = dwarf_filesrc(files, index, nil, nil)
    else { return nil }
    return absolute(String(cString: path))
  }

  private func absolute(_ path: String) -> String {
    guard let directory, !directory.isEmpty, !path.hasPrefix("/") else { return path }
    return directory.hasSuffix("/") ? directory + path : "\(directory)/\(path)"
  }

  private static func address(of line: OpaquePointer?) -> UInt64? {
    var address = Dwarf_Addr()
    return dwarf_lineaddr(line, &address) == 0 ? address : nil
  }

  private static func endsSequence(_ line: OpaquePointer) -> Bool {
    var ends = false
    return dwarf_lineendsequence(line, &ends) != 0 || ends
  }

  private func location(of line: OpaquePointer) -> SourceLocation? {
    guard let text = dwarf_linesrc(line, nil, nil) else { return nil }
    let path = String(cString: text)
    if path.hasSuffix("<compiler-generated>") { return nil }
    var (number, column): (Int32, Int32) = (0, 0)
    _ = dwarf_lineno(line, &number)
    // So Swift names the source of some of what it made, and C compilers what they were piped.
    if number <= 0, path.hasSuffix("<stdin>") { return nil }
    _ = dwarf_linecol(line, &column)
    return SourceLocation(
      path: absolute(path), line: max(0, Int(number)), column: max(0, Int(column)))
  }
}
