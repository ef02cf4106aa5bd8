import TraceReader

/// Looks up the names that reports on a trace can ask for, and writes them into SYMBOLS chunks: of
/// all addresses of its stacks, those of generated code included, and suspended tasks, the vtables, stored properties and members of its types, the variables
/// that may hold blocks in its snapshots, how large values of Swift are, what the program says to checks for leaks.
public struct SymbolEmbedder {
  private let stacks: StackTable
  private let images: ImageMap
  private let types: TypeTable
  private let variables: VariablePlaces
  /// Whether reports can look into blocks.
  private let hasSnapshots: Bool
  /// The path of the program.
  private let executable: String
  private let symbolicator: any Symbolicator
  /// What is known of the types, as reports ask for it.
  private let layouts: SwiftLayouts

  /// Prepares to look up names.
  ///
  /// - Parameters:
  ///   - trace: Whose stacks, types and snapshots.
  ///   - symbolicator: Where names come from.
  public init(_ trace: Trace, symbolicator: any Symbolicator) {
    self.init(
      stacks: trace.stacks, images: trace.images, types: trace.types,
      variables: VariablePlaces(trace), hasSnapshots: !trace.snapshots.isEmpty,
      executable: trace.process.executablePath, symbolicator: symbolicator)
  }

  init(
    stacks: StackTable, images: ImageMap, types: TypeTable = TypeTable(),
    variables: VariablePlaces = VariablePlaces(), hasSnapshots: Bool = false,
    executable: String = "", symbolicator: any Symbolicator
  ) {
    self.stacks = stacks
    self.images = images
    self.types = types
    self.variables = variables
    self.hasSnapshots = hasSnapshots
    self.executable = executable
    self.symbolicator = symbolicator
    layouts = SwiftLayouts(types: types, images: images, symbolicator: symbolicator)
  }

  /// The contents of the chunks.
  ///
  /// An image whose files cannot be read is left out: a reader looks for them itself, and says
  /// what is wrong with them there.
  ///
  /// - Parameter progress: Called with the addresses that are done, and all of them.
  /// - Returns: None when no name is known.
  public func chunks(progress: (UInt64, UInt64) -> Void = { _, _ in }) -> [[UInt8]] {
    let (addresses, generated) = self.addresses()
    let classes = self.classes()
    let total = UInt64(addresses.values.reduce(0) { $0 + $1.count })
    var done: UInt64 = 0
    var output = SymbolChunks()
    var states: [ImageFile: EmbeddedImageState?] = [:]
    let structures = StructureEmbedder(types: types, images: images, symbolicator: symbolicator)
    var code: [UInt32: [UInt64]] = [:]
    var variableTypes: Set<String> = []
    for image in images.images {
      let frames = addresses[image.index] ?? []
      guard
        !frames.isEmpty || classes[image.index] != nil
          || variables.addresses[image.index] != nil || variables.witnesses[image.index] != nil
      else { continue }
      let file = ImageFile(image)
      let state = states[file] ?? state(of: image, lookingUp: frames.first)
      states[file] = .some(state)
      guard let state else { continue }
      output.encoder.add(image: image.index, state: state)
      for address in frames {
        if addFrames(at: address, of: image, structures, to: &output) {
          code[image.index, default: []].append(address)
        }
        done += 1
        progress(done, total)
      }
      output.encoder.endImage(image.index)
      addVariables(of: image, to: &output).forEach { variableTypes.insert($0) }
      addValueSizes(of: image, to: &output)
      for place in classes[image.index] ?? [] { addFields(of: place, in: image, to: &output) }
    }
    addGeneratedCode(at: generated, to: &output)
    addElements(andThoseOf: variableTypes, to: &output)
    structures.addClasses(knownTo: code) { output.add($0, at: $1) }
    if hasSnapshots {
      var containers = ContainerEmbedder(
        stacks: stacks, images: images, symbolicator: symbolicator)
      containers.addStructures { output.add($0, at: $1) }
    }
    addTexts(to: &output)
    for (image, address) in vtables() {
      guard let symbol = symbolicator.vtableSymbol(at: address, in: image) else { continue }
      output.encoder.add(
        vtable: symbol, at: address.rawValue &- image.loadBias, in: image.index)
      output.endIfFull()
    }
    return output.finish()
  }

  /// What is known of an address by its frames.
  private static func known(
    _ frames: [SymbolicatedFrame], at address: UInt64
  ) -> [ImageSymbols.Frame] {
    frames.map { frame in
      ImageSymbols.Frame(
        function: frame.function, start: frame.functionOffset.map { address &- $0 },
        location: frame.location, isInlined: frame.isInlined,
        isAllocationWrapper: frame.isAllocationWrapper)
    }
  }

  private func addGeneratedCode(at addresses: [UInt64], to output: inout SymbolChunks) {
    for address in addresses {
      let frames = symbolicator.frames(at: Address(address), in: nil, isExact: true)
      guard frames.contains(where: { $0.function != nil }) else { continue }
      output.encoder.add(Self.known(frames, at: address), at: address)
      output.endIfFull(EmbeddedSymbols.noImage)
    }
    output.encoder.endImage(EmbeddedSymbols.noImage)
  }

  /// - Returns: Whether it is the program's own code.
  private func addFrames(
    at address: UInt64, of image: Image, _ structures: StructureEmbedder,
    to output: inout SymbolChunks
  ) -> Bool {
    let programCounter = Address(address &+ image.loadBias)
    let frames = symbolicator.frames(at: programCounter, in: image, isExact: true)
    guard frames.contains(where: { $0.function != nil || $0.location != nil }) else {
      return false
    }
    output.encoder.add(Self.known(frames, at: address), at: address)
    for (position, frame) in frames.enumerated() where frame.isCompiledIn {
      for isNew in [false, true] {
        let site = AllocationSite(
          programCounter: programCounter, isExact: true, position: position, frame: frame,
          isNew: isNew)
        guard let type = symbolicator.allocatedType(at: site, in: image) else { continue }
        output.encoder.add(type: type.short, of: EmbeddedSite(site, in: image))
        if let (layout, place) = structures.structure(in: type, knownTo: address, of: image) {
          output.encoder.add(layout, at: place)
        }
      }
    }
    output.endIfFull(image.index)
    return frames.contains(where: \.isCompiledIn)
  }

  /// - Returns: The types of those of Swift of which their values may be told.
  private func addVariables(of image: Image, to output: inout SymbolChunks) -> [String] {
    var last: UInt64?
    var types: [String] = []
    for address in variables.addresses[image.index]?.sorted() ?? [] {
      guard
        let variable = symbolicator.dataSymbol(at: Address(address &+ image.loadBias), in: image),
        variable.offset <= address
      else { continue }
      let start = address - variable.offset
      guard start != last else { continue }
      last = start
      output.encoder.add(variable: variable, at: start, in: image.index)
      output.endIfFull()
      types += variable.swiftType.map(SwiftLayouts.typesToAsk) ?? []
    }
    return types
  }

  private func addValueSizes(of image: Image, to output: inout SymbolChunks) {
    for address in variables.witnesses[image.index]?.sorted() ?? [] {
      let witnesses = Address(address &+ image.loadBias)
      guard let size = symbolicator.swiftValueSize(witnesses: witnesses, in: image) else {
        continue
      }
      output.encoder.add(valueSize: size, witnesses: address, in: image.index)
      output.endIfFull()
    }
  }

  private func addFields(
    of place: SwiftClassPlace, in image: Image, to output: inout SymbolChunks
  ) {
    let metadata = place.metadata &+ image.loadBias
    guard let type = types.type(ofWord: metadata) else { return }
    let fields = layouts.ownFields(of: type, metadata: metadata)
    guard !fields.isEmpty else { return }
    output.encoder.add(fields, of: place)
    output.endIfFull()
  }

  /// Adds the elements of arrays, the keys and values of dictionaries, what closures capture, and what lies in
  /// variables, as `SwiftLayouts` looks them up.
  ///
  /// - Parameters:
  ///   - variables: The types of variables.
  ///   - output: What to add to.
  private func addElements(andThoseOf variables: Set<String>, to output: inout SymbolChunks) {
    let elementTypes = SwiftElementTypes(types, images)
    let stored =
      types.all.compactMap(SwiftElementTypes.element) + types.all.compactMap(SwiftElementTypes.key)
      + types.all.flatMap(SwiftLayouts.typesInManagedBuffer)
    let names =
      (stored + variables).flatMap(SwiftCapturedValues.parts)
      + types.all.flatMap(SwiftCapturedValues.types)
    let all = names + names.compactMap(SwiftExistentials.constraints).flatMap { $0 }
    for name in Set(all).sorted() where elementTypes.layout(named: name) == nil {
      let image = elementTypes.images(defining: name).first {
        symbolicator.swiftElements(named: name, in: $0) != nil
      }
      // What others know of a generic structure is put together of what several images say.
      guard let place = image ?? elementTypes.images.first,
        image != nil || SwiftGenericTypes.name(of: name) != nil,
        let elements = layouts.elements(named: name)
      else { continue }
      output.encoder.add(elements, named: name, in: place.index)
      output.endIfFull()
    }
  }

  /// Adds what functions of the program return that checks for leaks ask for.
  private func addTexts(to output: inout SymbolChunks) {
    guard let image = images.images.first(where: { $0.path == executable }),
      let text = symbolicator.text(returnedBy: ReturnedText.suppressions, in: image)
    else { return }
    output.encoder.add(text, returnedBy: ReturnedText.suppressions, in: image.index)
    output.endIfFull()
  }

  /// For each image, the ELF addresses that lie in its stacks' frames, and where its tasks are suspended,
  /// ascending; and the addresses of frames in no image.
  private func addresses() -> (ofImages: [UInt32: [UInt64]], generated: [UInt64]) {
    var found = variables.code
    var generated: Set<UInt64> = []
    stacks.forEachFrame { frame in
      if let image = images.image(containing: frame.lookupAddress, seenBy: frame.node) {
        found[image.index, default: []].insert(frame.lookupAddress.rawValue &- image.loadBias)
      } else {
        generated.insert(frame.lookupAddress.rawValue)
      }
      return true
    }
    return (found.mapValues { $0.sorted() }, generated.sorted())
  }

  /// For each image, the Swift classes whose properties its files may tell, as `SwiftLayouts` looks
  /// them up.
  private func classes() -> [UInt32: [SwiftClassPlace]] {
    var found: [UInt32: [SwiftClassPlace]] = [:]
    for type in types.all where type.kind == .swiftClass {
      for word in type.words {
        guard let image = images.image(of: type, metadata: word, in: types) else { continue }
        found[image.index, default: []].append(
          SwiftClassPlace(
            image: image.index, descriptor: type.definition.rawValue &- image.loadBias,
            metadata: word &- image.loadBias))
      }
    }
    return found
  }

  /// The vtables that types are known by only, as `TypeNames` looks them up, and the descriptions of what was thrown.
  private func vtables() -> [(image: Image, address: Address)] {
    let thrown = images.images.flatMap { image in
      variables.descriptions.filter { $0.image == image.index }.map(\.address).sorted().map {
        (image, Address($0 &+ image.loadBias))
      }
    }
    return thrown + vtablesOfTypes()
  }

  private func vtablesOfTypes() -> [(image: Image, address: Address)] {
    types.all.filter { $0.kind == .cxxVTable }.flatMap { type in
      let image = images.image(containing: type.definition, at: type.time)
      return image.map { image in
        type.words.flatMap { word in TypeNames.vtablePlaces(ofWord: word).map { (image, $0) } }
      } ?? []
    }
  }

  /// Whether the files of an image can be read, which shows at the first look-up.
  private func state(of image: Image, lookingUp address: UInt64?) -> EmbeddedImageState? {
    let before = symbolicator.warnings.count
    _ = symbolicator.frames(
      at: address.map { Address($0 &+ image.loadBias) } ?? image.start, in: image, isExact: true)
    guard let warning = symbolicator.warnings.dropFirst(before).first else { return .read }
    return warning.reason == .newerThanTrace ? .readButNewer : nil
  }
}

/// The contents of SYMBOLS chunks while they are made.
private struct SymbolChunks {
  /// The chunk that is being filled.
  var encoder = SymbolChunkEncoder()
  private var chunks: [[UInt8]] = []

  /// A chunk is ended when it has come to this size: much longer ones are not read.
  private static let chunkSize = 1 << 20

  /// Begins another chunk when this one has come to its size.
  ///
  /// - Parameter image: The image whose frames are being added.
  mutating func endIfFull(_ image: UInt32? = nil) {
    guard encoder.byteCount > Self.chunkSize else { return }
    if let image { encoder.endImage(image) }
    chunks.append(encoder.content())
    encoder = SymbolChunkEncoder()
  }

  /// Adds the members of a structure.
  mutating func add(_ layout: StructureLayout, at place: EmbeddedStructurePlace) {
    encoder.add(layout, at: place)
    endIfFull()
  }

  /// All chunks.
  mutating func finish() -> [[UInt8]] {
    if !encoder.isEmpty { chunks.append(encoder.content()) }
    return chunks
  }
}
