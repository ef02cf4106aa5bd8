import TraceReader

/// A symbolicator that reads ELF symbols and DWARF from the files that the images came from.
///
/// Files are opened at the first look-up and kept open, also for other traces where it is given
/// ``SymbolFiles``. It uses the network only where it is given a
/// ``DebuginfodClient``.
public final class ELFSymbolicator: Symbolicator {
  private struct AddressKey: Hashable {
    let file: ImageFile
    let address: UInt64
  }

  private let locator: DebugFileLocator
  private let recordedAt: UInt64?
  private let generatedCode: GeneratedCode?
  private let sourceTypes: SourceTypes
  private let shared: SymbolFiles?
  private var files: [ImageFile: ImageSymbols] = [:]
  private var known: [AddressKey: [ImageSymbols.Frame]] = [:]

  /// What could not be used and why, one for each image, in the order of first use.
  public private(set) var warnings: [SymbolicationWarning] = []

  /// Makes a symbolicator; files are opened when they are first needed.
  ///
  /// - Parameters:
  ///   - debugDirectories: Where separate debug files are looked for.
  ///   - cache: Debug files that have been fetched before.
  ///   - servers: What is asked for those that nothing else has.
  ///   - root: Where the recorded programs' own file system is; nil where it is this one.
  ///   - recordedAt: When the recording began, in nanoseconds since 1970: an image without build
  ///     ID whose file is newer is doubtful, and a source file that is newer is not asked.
  ///   - generatedCode: Knows code in no image; nil for nobody.
  ///   - shared: The files that other traces needed, which had the same places to look in.
  public init(
    debugDirectories: [String] = ["/usr/lib/debug"], cache: DebuginfodCache? = nil,
    servers: DebuginfodClient? = nil, root: SystemRoot? = nil, recordedAt: UInt64? = nil,
    generatedCode: GeneratedCode? = nil, sharing shared: SymbolFiles? = nil
  ) {
    locator = DebugFileLocator(
      directories: debugDirectories, root: root, cache: cache, servers: servers)
    self.recordedAt = recordedAt
    self.generatedCode = generatedCode
    self.shared = shared
    sourceTypes = SourceTypes(recordedAt: recordedAt, root: root)
  }

  /// The frames of one program counter, innermost first.
  public func frames(
    at programCounter: Address, in image: Image?, isExact: Bool
  ) -> [SymbolicatedFrame] {
    let offset = programCounter.rawValue &- (image?.loadBias ?? 0)
    let address = isExact ? offset : offset &- 1
    let found =
      image.map { frames(at: address, inFileAt: $0.path, buildID: $0.buildID) }
      ?? generatedCode?.frames(at: address) ?? []
    return SymbolicatedFrame.frames(found, at: programCounter, in: image)
  }

  /// The variable that holds an address; `nil` where none is known.
  public func dataSymbol(at address: Address, in image: Image) -> DataSymbol? {
    let file = ImageFile(image)
    return symbols(of: file)?.variables.symbol(at: address.rawValue &- image.loadBias)
  }

  /// What a function of C returns that does nothing but return a text.
  public func text(returnedBy function: String, in image: Image) -> ReturnedText? {
    symbols(of: ImageFile(image))?.text(returnedBy: function)
  }

  /// The stored properties of a Swift class, without those of its superclass.
  public func swiftFields(of type: SwiftClassReference, in image: Image) -> [SwiftField] {
    symbols(of: ImageFile(image)).flatMap(Self.fieldReader)?.fields(
      descriptor: type.descriptor.rawValue &- image.loadBias,
      metadata: type.metadata.rawValue &- image.loadBias, offsets: type.offsets) ?? []
  }

  /// What lies in each element of an array of Swift whose type the image defines.
  public func swiftElements(named name: String, in image: Image) -> SwiftElements? {
    guard let symbols = symbols(of: ImageFile(image)) else { return nil }
    if let descriptor = symbols.swiftValueNames[name] {
      return Self.fieldReader(symbols)?.elements(descriptor: descriptor)
    }
    guard let generic = SwiftGenericTypes.name(of: name),
      let descriptor = symbols.swiftGenericTypes[generic]
    else { return symbols.swiftProtocols[name] }
    return Self.fieldReader(symbols)?.elements(genericDescriptor: descriptor)
  }

  /// The stored properties of a generic structure of Swift that the image defines.
  public func swiftMembers(ofGeneric name: String, in image: Image) -> [SwiftMember]? {
    guard let symbols = symbols(of: ImageFile(image)),
      let descriptor = symbols.swiftGenericTypes[name]
    else { return nil }
    return Self.fieldReader(symbols)?.members(genericDescriptor: descriptor)
  }

  /// How many bytes a value of Swift takes, by the value witnesses of its type.
  public func swiftValueSize(witnesses: Address, in image: Image) -> UInt64? {
    symbols(of: ImageFile(image))?.contents.flatMap {
      SwiftValueMetadata.size(ofWitnesses: witnesses.rawValue &- image.loadBias, in: $0)
    }
  }

  private static func fieldReader(_ symbols: ImageSymbols) -> SwiftFieldReader? {
    guard let contents = symbols.contents, let values = symbols.swiftValues else { return nil }
    return SwiftFieldReader(contents, values: values, symbol: symbols.relocations.symbol(at:)) {
      symbols.variables.symbol(at: $0).flatMap { $0.offset == 0 ? $0.name : nil }
    }
  }

  /// The type that the source names where it allocates.
  public func allocatedType(at site: AllocationSite, in image: Image) -> TypeName? {
    let compiler = coroutineCompiler(at: site, in: image)
    // What its line says is in its body, which is another function.
    if compiler == .gcc { return Self.coroutineFrame(at: site) }
    let address = site.lookupAddress &- image.loadBias
    let type = sourceTypes.type(allocatedBy: site.frame, isNew: site.isNew) { object in
      symbols(of: ImageFile(image))?.typeName(of: object, at: address, in: site.position)
    } aliased: { alias in
      symbols(of: ImageFile(image))?.typeName(
        ofAlias: alias, in: site.frame.baseName, at: address, in: site.position)
    }
    guard let type else {
      return compiler == .clang && !isOfBody(site) ? Self.coroutineFrame(at: site) : nil
    }
    guard type.language == .cxx,
      let name = symbols(of: ImageFile(image))?.wholeName(
        ofClass: type.short, in: site.frame.baseName, at: address, in: site.position)
    else { return type }
    return TypeName(short: name, full: name, language: .cxx)
  }

  /// The member of a block of C or C++ that may hold a pointer.
  public func member(
    at place: MemberPlace, knownTo address: Address, in image: Image
  ) -> BlockMember? {
    let symbols = symbols(of: ImageFile(image))
    return place.member {
      symbols?.members(of: $0, isCxx: place.isCxx, at: address.rawValue &- image.loadBias)
    }
  }

  /// All members of a structure of C or C++ that may hold pointers.
  public func structure(
    named name: String, isCxx: Bool, knownTo address: Address, in image: Image
  ) -> StructureLayout? {
    let offset = address.rawValue &- image.loadBias
    return symbols(of: ImageFile(image))?.members(of: name, isCxx: isCxx, at: offset)
      .map { StructureLayout($0) }
  }

  /// Who compiled the coroutine of C++ that called `operator new`; nil where it is none.
  private func coroutineCompiler(
    at site: AllocationSite, in image: Image
  ) -> CoroutineSymbols.Compiler? {
    guard site.isNew, let function = site.frame.function, function.language == .cxx else {
      return nil
    }
    return symbols(of: ImageFile(image))?.coroutines.compiler(of: function.raw)
  }

  /// Whether what a coroutine allocates may be what its body asks for, or its source is not at hand.
  private func isOfBody(_ site: AllocationSite) -> Bool {
    site.frame.location.flatMap(sourceLine(at:))?.contains("new") ?? true
  }

  /// What a coroutine of C++ allocates for itself as it is called.
  private static func coroutineFrame(at site: AllocationSite) -> TypeName? {
    guard let function = site.frame.function else { return nil }
    let name = "\(function.base) coroutine frame"
    return TypeName(short: name, full: name, language: .cxx)
  }

  /// A line of a source file that has not changed since the recording.
  public func sourceLine(at location: SourceLocation) -> String? { sourceTypes.line(at: location) }

  /// The symbol of the C++ vtable that begins at an address; `nil` where there is none.
  public func vtableSymbol(at address: Address, in image: Image) -> String? {
    let file = ImageFile(image)
    return symbols(of: file)?.vtables.name(at: address.rawValue &- image.loadBias)
  }

  /// The functions at an ELF address of a file, innermost first; empty where nothing is known.
  func frames(
    at address: UInt64, inFileAt path: String, buildID: [UInt8]
  ) -> [ImageSymbols.Frame] {
    let file = ImageFile(path: path, buildID: buildID)
    let key = AddressKey(file: file, address: address)
    if let frames = known[key] { return frames }
    let frames = symbols(of: file)?.frames(at: address) ?? []
    known[key] = frames
    return frames
  }

  /// `nil` for what is no file, such as the kernel's `linux-vdso.so.1`.
  private func symbols(of key: ImageFile) -> ImageSymbols? {
    guard key.path.hasPrefix("/") else { return nil }
    if let symbols = files[key] { return symbols }
    if files.isEmpty { shared?.beginTrace() }
    let open = { self.open(key) }
    // Without a build ID the time of the recording counts as well.
    let (symbols, problem) =
      key.buildID.isEmpty ? open() : shared?.symbols(of: key, open: open) ?? open()
    if let problem {
      let path = locator.root?.place(of: key.path) ?? key.path
      warnings.append(
        SymbolicationWarning(
          imagePath: path, reason: problem, isInSystemRoot: locator.root != nil))
    }
    files[key] = symbols
    return symbols
  }

  private func open(_ key: ImageFile) -> (ImageSymbols, SymbolicationWarning.Reason?) {
    var problem: SymbolicationWarning.Reason?
    let symbols = ImageSymbols(
      path: key.path, buildID: key.buildID, locator: locator, recordedAt: recordedAt
    ) { problem = $0 }
    return (symbols, problem)
  }
}

extension SymbolicatedFrame {
  /// The frames of one program counter by what is known about it: with nothing but offsets where
  /// that is nothing.
  ///
  /// Generated code is in no image.
  static func frames(
    _ found: [ImageSymbols.Frame], at programCounter: Address, in image: Image?
  ) -> [SymbolicatedFrame] {
    let offset = programCounter.rawValue &- (image?.loadBias ?? 0)
    let imageOffset = image.map { _ in offset }
    guard !found.isEmpty else {
      return [
        SymbolicatedFrame(
          programCounter: programCounter, imagePath: image?.path, imageOffset: imageOffset)
      ]
    }
    return found.map { frame in
      SymbolicatedFrame(
        programCounter: programCounter, function: frame.function, location: frame.location,
        isInlined: frame.isInlined, imagePath: image?.path, imageOffset: imageOffset,
        functionOffset: frame.start.map { offset &- $0 },
        isAllocationWrapper: frame.isAllocationWrapper)
    }
  }
}
