/// All that is known about the code of one image: ELF symbols and DWARF, of the image's own file
/// or of a separate debug file.
final class ImageSymbols {
  /// One function at an address of the image.
  struct Frame: Hashable {
    let function: FunctionName?
    /// Where the function begins, as an ELF address; `nil` where unknown or inlined.
    let start: UInt64?
    let location: SourceLocation?
    let isInlined: Bool
    /// Whether it is a function of the program that allocates for its callers.
    var isAllocationWrapper = false
  }

  private let files: [ELFFile]
  private let symbols: SymbolIndex
  /// What the image's own file puts into memory; nil when there is only a debug file.
  private(set) lazy var contents = files.first.map(ELFContents.init)
  /// Where the dynamic linker puts addresses of symbols into the image.
  private(set) lazy var relocations = DynamicRelocations(
    files: files.prefix(contents == nil ? 0 : 1))
  /// The structures and enums of Swift that the image defines; nil when there is only a debug file.
  private(set) lazy var swiftValues = contents.map {
    SwiftValueMetadata($0, symbol: relocations.symbol(at:))
  }
  /// The descriptors of these by name.
  private(set) lazy var swiftValueNames = swiftValues?.descriptors() ?? [:]
  /// The descriptors of its generic structures and enums by name.
  private(set) lazy var swiftGenericTypes: [String: UInt64] = {
    guard let file = files.first, let contents else { return [:] }
    return SwiftGenericTypes.descriptors(file, contents)
  }()
  /// What lies in arrays of values of the image's protocols.
  private(set) lazy var swiftProtocols: [String: SwiftElements] = {
    guard let file = files.first, let contents else { return [:] }
    return SwiftProtocols.elements(file, contents)
  }()
  /// The image's variables.
  private(set) lazy var variables = DataSymbols(files: files)
  /// The vtables of the image's C++ classes.
  private(set) lazy var vtables = VTableSymbols(files: files)
  /// The coroutines of the image's C++ code.
  private(set) lazy var coroutines = CoroutineSymbols(files: files)
  private let debugInfo: DebugInfo?
  /// The names of symbols that were asked for: many addresses lie in one function.
  private var symbolNames: [String: FunctionName] = [:]
  /// The functions of the image that Go has compiled; nil where there are none.
  private lazy var goFunctions = files.first.flatMap(GoFunctions.init)

  /// Opens the files of an image.
  ///
  /// - Parameters:
  ///   - path: Where the image was loaded from.
  ///   - buildID: As recorded; empty when the image had none.
  ///   - locator: Finds separate debug files.
  ///   - recordedAt: When the recording began, in nanoseconds since 1970.
  ///   - warn: Called at most once.
  init(
    path: String, buildID: [UInt8], locator: DebugFileLocator, recordedAt: UInt64?,
    warn: (SymbolicationWarning.Reason) -> Void
  ) {
    var files: [ELFFile] = []
    var problem: SymbolicationWarning.Reason?
    do throws(ELFFile.OpenError) {
      let file = try Self.file(at: path, buildID: buildID, in: locator.root)
      let found = file.buildID
      if found != buildID {
        problem = .differentBuild(recorded: Self.text(buildID), onDisk: Self.text(found))
      } else {
        files.append(file)
        if found.isEmpty, let recordedAt, file.modifiedAt > recordedAt { problem = .newerThanTrace }
      }
    } catch {
      problem = Self.reason(error)
    }
    // A debug file is found by build ID alone, also when the image itself is gone.
    if let file = files.first {
      if let debugFile = locator.debugFile(of: file) { files.append(debugFile) }
    } else if let debugFile = locator.file(withBuildID: buildID, for: path) {
      files.append(debugFile)
      problem = nil
    }
    self.files = files
    symbols = SymbolIndex(files: files)
    debugInfo =
      files.reversed().lazy.compactMap { DebugInfo(file: $0, locator: locator) }.first
    if let problem { warn(problem) }
  }

  /// Opens the file of an image: in the recorded programs' own file system where that was given; in this one only
  /// if it is the same build.
  private static func file(
    at path: String, buildID: [UInt8], in root: SystemRoot?
  ) throws(ELFFile.OpenError) -> ELFFile {
    guard let root else { return try file(at: path, buildID: buildID) }
    let inRoot = Result { () throws(ELFFile.OpenError) in
      try file(at: root.place(of: path), buildID: buildID)
    }
    if case .success(let file) = inRoot, file.buildID == buildID { return file }
    if !buildID.isEmpty, let here = try? file(at: path, buildID: buildID), here.buildID == buildID {
      return here
    }
    return try inRoot.get()
  }

  /// Opens the file of an image.
  ///
  /// The kernel marks the name of a program that was removed while it ran. Whoever has installed it anew may have
  /// installed the same again; a build ID tells.
  private static func file(at path: String, buildID: [UInt8]) throws(ELFFile.OpenError) -> ELFFile {
    do {
      return try ELFFile(path: path)
    } catch {
      guard !buildID.isEmpty, path.hasSuffix(markOfRemoved),
        let file = try? ELFFile(path: String(path.dropLast(markOfRemoved.count)))
      else { throw error }
      return file
    }
  }

  private static let markOfRemoved = " (deleted)"

  /// The functions at an ELF address, innermost first; empty where nothing is known.
  func frames(at address: UInt64) -> [Frame] {
    let described = debugInfo?.frames(at: address) ?? []
    if described.isEmpty, let function = goFunctions?.match(at: address) {
      return [
        Frame(
          function: FunctionName(plain: function.name), start: function.start,
          location: function.location, isInlined: false)
      ]
    }
    let symbol = symbols.match(at: address)
    guard let outermost = described.indices.last else {
      guard let symbol else { return [] }
      let name = name(ofSymbol: symbol.name)
      return [Frame(function: name, start: symbol.start, location: nil, isInlined: false)]
    }
    return described.enumerated().map { index, frame in
      guard index == outermost else {
        return Frame(
          function: frame.function, start: nil, location: frame.location, isInlined: true,
          isAllocationWrapper: Self.isAllocationWrapper(frame, named: frame.function))
      }
      let function = name(of: frame, symbol: symbol)
      return Frame(
        function: function, start: frame.start ?? symbol?.start, location: frame.location,
        isInlined: false, isAllocationWrapper: Self.isAllocationWrapper(frame, named: function))
    }
  }

  /// With lines alone (`-g1`, `-gline-tables-only`) debug information does not tell it, and the name has to.
  private static func isAllocationWrapper(
    _ frame: DebugInfo.Frame, named function: FunctionName?
  ) -> Bool {
    frame.isAllocationWrapper ?? function.map(AllocationWrapperNames.isOne) ?? false
  }

  /// The ELF address of a function that the image defines; nil where none of its files names it.
  func start(ofFunction name: String) -> UInt64? {
    files.lazy.compactMap { $0.start(ofFunction: name) }.first
  }

  /// Whether the image's code is for x86_64.
  var isForX86: Bool { files.first?.isForX86 == true }

  /// The name of the type of an object that the code at an ELF address speaks of.
  ///
  /// - Parameters:
  ///   - object: As the source spells it.
  ///   - address: Of the code.
  ///   - position: Which of the frames at the address is meant.
  /// - Returns: nil where that is not known.
  func typeName(of object: ObjectExpression, at address: UInt64, in position: Int) -> String? {
    debugInfo?.typeName(of: object, at: address, in: position)
  }

  /// The name of a class of C++ with the namespaces and classes that it is in.
  ///
  /// - Parameters:
  ///   - type: As the source of the code spells it.
  ///   - function: The function of the frame, without parameters.
  ///   - address: Of the code.
  ///   - position: Which of the frames at the address is meant.
  /// - Returns: nil where no class, or more than one, can be meant.
  func wholeName(
    ofClass type: String, in function: String, at address: UInt64, in position: Int
  ) -> String? {
    debugInfo?.wholeName(ofClass: type, in: function, at: address, in: position)
  }

  /// The type that a class template gives a name to, in one of its instances.
  ///
  /// - Parameters:
  ///   - alias: As the source of the code spells it.
  ///   - function: The function of the frame, without parameters.
  ///   - address: Of the code.
  ///   - position: Which of the frames at the address is meant.
  /// - Returns: nil where the classes that the function is in give no such name.
  func typeName(
    ofAlias alias: String, in function: String, at address: UInt64, in position: Int
  ) -> String? {
    debugInfo?.typeName(ofAlias: alias, in: function, at: address, in: position)
  }

  /// The members of a structure of C or C++ that the code at an ELF address may speak of; nil where that is
  /// not known.
  func members(of type: String, isCxx: Bool, at address: UInt64) -> StructureMembers? {
    debugInfo?.members(of: type, isCxx: isCxx, at: address)
  }

  /// Where debug information has only the plain name, a mangled symbol says more, and so does an
  /// exported one than the implementer's: `strdup` than `__strdup`.
  private func name(of frame: DebugInfo.Frame, symbol: SymbolIndex.Match?) -> FunctionName? {
    guard let symbol else { return frame.function }
    guard let described = frame.function else { return name(ofSymbol: symbol.name) }
    guard symbol.start == frame.start, described.language == .plain else { return described }
    let name = name(ofSymbol: symbol.name)
    let isBetter =
      name.language != .plain
      || described.raw.hasPrefix("_") && name.leadingUnderscores <= described.leadingUnderscores
    return isBetter ? name : described
  }

  private func name(ofSymbol symbol: String) -> FunctionName {
    if let known = symbolNames[symbol] { return known }
    let name = Demangler.name(of: symbol)
    symbolNames[symbol] = name
    return name
  }

  private static func reason(_ error: ELFFile.OpenError) -> SymbolicationWarning.Reason {
    switch error {
    case .missing: .missingFile
    case .unreadable(let why): .unreadable(why)
    case .notELF: .notELF
    }
  }

  private static func text(_ buildID: [UInt8]) -> String {
    buildID.map(DebugFileLocator.hexadecimal).joined()
  }
}

extension FunctionName {
  fileprivate var leadingUnderscores: Int { raw.utf8.prefix { $0 == UInt8(ascii: "_") }.count }
}
