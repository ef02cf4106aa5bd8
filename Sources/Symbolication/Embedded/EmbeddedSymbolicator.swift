import TraceReader

/// A symbolicator that takes names from the trace itself, and from files where it has none.
public final class EmbeddedSymbolicator: Symbolicator {
  private let symbols: EmbeddedSymbols
  private let files: any Symbolicator
  private let prefersFiles: Bool
  private let isWhole: Bool
  /// Images that were warned of.
  private var known: Set<String> = []
  private var filesWarningCount = 0

  /// What could not be used and why, one for each image, in the order of first use.
  public private(set) var warnings: [SymbolicationWarning] = []

  /// Makes a symbolicator.
  ///
  /// - Parameters:
  ///   - chunks: The contents of the trace's SYMBOLS chunks, `Trace.symbolContents`.
  ///   - files: Where names are looked up that the trace does not have.
  ///   - prefersFiles: Whether to look there first, because debug files were named that may say
  ///     more than was known when the trace was packed.
  ///   - isWhole: Whether all of these chunks are there; see `Trace.lacksSymbols`.
  public init(
    _ chunks: [[UInt8]], files: any Symbolicator, prefersFiles: Bool = false, isWhole: Bool = true
  ) {
    symbols = EmbeddedSymbols(chunks)
    self.files = files
    self.prefersFiles = prefersFiles
    self.isWhole = isWhole && !symbols.isDamaged
  }

  /// The frames of one program counter, innermost first.
  public func frames(
    at programCounter: Address, in image: Image?, isExact: Bool
  ) -> [SymbolicatedFrame] {
    guard let image else {
      return framesOfGeneratedCode(at: programCounter, isExact: isExact)
    }
    guard let state = symbols.state(of: image.index) else {
      return framesOfFiles(at: programCounter, in: image, isExact: isExact, warns: true)
    }
    if prefersFiles {
      let frames = framesOfFiles(at: programCounter, in: image, isExact: isExact, warns: false)
      if frames.contains(where: { $0.function != nil }) { return frames }
    }
    let offset = programCounter.rawValue &- image.loadBias
    let found = symbols.frames(at: isExact ? offset : offset &- 1, in: image.index)
    if found.isEmpty, !isWhole {
      return framesOfFiles(at: programCounter, in: image, isExact: isExact, warns: true)
    }
    note(state, of: image)
    return SymbolicatedFrame.frames(found, at: programCounter, in: image)
  }

  private func framesOfGeneratedCode(
    at programCounter: Address, isExact: Bool
  ) -> [SymbolicatedFrame] {
    let address = isExact ? programCounter.rawValue : programCounter.rawValue &- 1
    let found = symbols.frames(at: address, in: EmbeddedSymbols.noImage)
    guard found.isEmpty else {
      return SymbolicatedFrame.frames(found, at: programCounter, in: nil)
    }
    return framesOfFiles(at: programCounter, in: nil, isExact: isExact, warns: true)
  }

  /// The symbol of the C++ vtable that begins at an address; `nil` where there is none.
  public func vtableSymbol(at address: Address, in image: Image) -> String? {
    symbols.vtable(at: address.rawValue &- image.loadBias, in: image.index)
      ?? askFiles(of: image) { $0.vtableSymbol(at: address, in: image) }
  }

  /// The variable that holds an address; `nil` where none is known.
  public func dataSymbol(at address: Address, in image: Image) -> DataSymbol? {
    symbols.variable(at: address.rawValue &- image.loadBias, in: image.index)
      ?? askFiles(of: image) { $0.dataSymbol(at: address, in: image) }
  }

  /// The stored properties of a Swift class, without those of its superclass.
  public func swiftFields(of type: SwiftClassReference, in image: Image) -> [SwiftField] {
    let place = SwiftClassPlace(
      image: image.index, descriptor: type.descriptor.rawValue &- image.loadBias,
      metadata: type.metadata.rawValue &- image.loadBias)
    let known = symbols.fields(of: place)
    guard known.isEmpty else { return known }
    return askFiles(of: image) { $0.swiftFields(of: type, in: image) } ?? []
  }

  /// What lies in each element of an array of Swift whose type the image defines.
  public func swiftElements(named name: String, in image: Image) -> SwiftElements? {
    symbols.elements(named: name, in: image.index)
      ?? askFiles(of: image) { $0.swiftElements(named: name, in: image) }
  }

  /// The stored properties of a generic structure of Swift; packed traces have the values of these.
  public func swiftMembers(ofGeneric name: String, in image: Image) -> [SwiftMember]? {
    askFiles(of: image) { $0.swiftMembers(ofGeneric: name, in: image) }
  }

  /// How many bytes a value of Swift takes, by the value witnesses of its type.
  public func swiftValueSize(witnesses: Address, in image: Image) -> UInt64? {
    symbols.valueSize(witnesses: witnesses.rawValue &- image.loadBias, in: image.index)
      ?? askFiles(of: image) { $0.swiftValueSize(witnesses: witnesses, in: image) }
  }

  /// The type that the source names where it allocates.
  ///
  /// Where it was not at hand when the trace was packed, it may be now.
  public func allocatedType(at site: AllocationSite, in image: Image) -> TypeName? {
    if let type = symbols.type(of: EmbeddedSite(site, in: image)) {
      return SourceTypes.name(type, of: site)
    }
    let found = files.allocatedType(at: site, in: image)
    takeWarnings(adds: false)
    return found
  }

  /// The member of a block of C or C++.
  ///
  /// Where no debug information was at hand when the trace was packed, it may be now.
  public func member(
    at place: MemberPlace, knownTo address: Address, in image: Image
  ) -> BlockMember? {
    let embedded = place.member { name in
      symbols.structure(
        named: name, isCxx: place.isCxx, at: address.rawValue &- image.loadBias, in: image.index)
    }
    if let embedded { return embedded }
    let found = files.member(at: place, knownTo: address, in: image)
    takeWarnings(adds: false)
    return found
  }

  /// All members of a structure of C or C++ that may hold pointers.
  public func structure(
    named name: String, isCxx: Bool, knownTo address: Address, in image: Image
  ) -> StructureLayout? {
    let offset = address.rawValue &- image.loadBias
    if let known = symbols.structure(named: name, isCxx: isCxx, at: offset, in: image.index) {
      return known
    }
    let found = files.structure(named: name, isCxx: isCxx, knownTo: address, in: image)
    takeWarnings(adds: false)
    return found
  }

  /// What a function of C returns that does nothing but return a text.
  ///
  /// Of functions that were not asked for when the trace was packed, it is known as far as the file of the
  /// image is at hand.
  public func text(returnedBy function: String, in image: Image) -> ReturnedText? {
    if let known = symbols.text(returnedBy: function, in: image.index) { return known }
    let found = files.text(returnedBy: function, in: image)
    takeWarnings(adds: false)
    return found
  }

  /// A line of a source file, which traces do not hold, where it is at hand now.
  public func sourceLine(at location: SourceLocation) -> String? { files.sourceLine(at: location) }

  /// Looks something up in files, unless these said all that they know when the trace was packed.
  private func askFiles<Found>(of image: Image, _ body: (any Symbolicator) -> Found?) -> Found? {
    let isMissing = symbols.state(of: image.index) == nil || !isWhole
    guard isMissing || prefersFiles else { return nil }
    let found = body(files)
    takeWarnings(adds: isMissing)
    return found
  }

  private func framesOfFiles(
    at programCounter: Address, in image: Image?, isExact: Bool, warns: Bool
  ) -> [SymbolicatedFrame] {
    let frames = files.frames(at: programCounter, in: image, isExact: isExact)
    takeWarnings(adds: warns)
    return frames
  }

  /// What the files had to say about an image with embedded names is of no use.
  private func takeWarnings(adds: Bool) {
    let all = files.warnings
    if adds { warnings += all.dropFirst(filesWarningCount) }
    filesWarningCount = all.count
  }

  private func note(_ state: EmbeddedImageState, of image: Image) {
    guard state == .readButNewer, known.insert(image.path).inserted else { return }
    warnings.append(SymbolicationWarning(imagePath: image.path, reason: .newerThanTrace))
  }
}
