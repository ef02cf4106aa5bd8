import TraceReader

/// Looks up all addresses of a trace's stacks, and the vtables of its types, and writes their names
/// into SYMBOLS chunks.
public struct SymbolEmbedder {
  private struct FileKey: Hashable {
    let path: String
    let buildID: [UInt8]
  }

  private let stacks: StackTable
  private let images: ImageMap
  private let types: TypeTable
  private let symbolicator: any Symbolicator

  /// A chunk is ended when it has come to this size, so that none is too large to be read.
  private static let chunkSize = 1 << 20

  /// Prepares to look up names.
  ///
  /// - Parameters:
  ///   - trace: Whose stacks and types.
  ///   - symbolicator: Where names come from.
  public init(_ trace: Trace, symbolicator: any Symbolicator) {
    self.init(
      stacks: trace.stacks, images: trace.images, types: trace.types, symbolicator: symbolicator)
  }

  init(
    stacks: StackTable, images: ImageMap, types: TypeTable = TypeTable(),
    symbolicator: any Symbolicator
  ) {
    self.stacks = stacks
    self.images = images
    self.types = types
    self.symbolicator = symbolicator
  }

  /// The contents of the chunks.
  ///
  /// An image whose files cannot be read is left out: a reader looks for them itself, and says
  /// what is wrong with them there.
  ///
  /// - Parameter progress: Called with the addresses that are done, and all of them.
  /// - Returns: None when no name is known.
  public func chunks(progress: (UInt64, UInt64) -> Void = { _, _ in }) -> [[UInt8]] {
    let addresses = self.addresses()
    let total = UInt64(addresses.values.reduce(0) { $0 + $1.count })
    var done: UInt64 = 0
    var chunks: [[UInt8]] = []
    var encoder = SymbolChunkEncoder()
    var states: [FileKey: EmbeddedImageState?] = [:]
    for image in images.images {
      guard let looked = addresses[image.index] else { continue }
      let file = FileKey(path: image.path, buildID: image.buildID)
      let state = states[file] ?? state(of: image, lookingUp: looked.first)
      states[file] = .some(state)
      guard let state else { continue }
      encoder.add(image: image.index, state: state)
      for address in looked {
        let frames = frames(at: address, in: image)
        if !frames.isEmpty { encoder.add(frames, at: address) }
        done += 1
        progress(done, total)
        if encoder.byteCount > Self.chunkSize {
          encoder.endImage(image.index)
          chunks.append(encoder.content())
          encoder = SymbolChunkEncoder()
        }
      }
      encoder.endImage(image.index)
    }
    for (image, address) in vtables() {
      guard let symbol = symbolicator.vtableSymbol(at: address, in: image) else { continue }
      encoder.add(vtable: symbol, at: address.rawValue &- image.loadBias, in: image.index)
    }
    if !encoder.isEmpty { chunks.append(encoder.content()) }
    return chunks
  }

  /// For each image, the ELF addresses that lie in its stacks' frames, ascending.
  private func addresses() -> [UInt32: [UInt64]] {
    var found: [UInt32: Set<UInt64>] = [:]
    var id = StackID.first
    while id < stacks.endID {
      if let frame = stacks.frame(of: id),
        let image = images.image(containing: frame.lookupAddress, seenBy: id)
      {
        found[image.index, default: []].insert(frame.lookupAddress.rawValue &- image.loadBias)
      }
      id = StackID(id.rawValue &+ 1)
    }
    return found.mapValues { $0.sorted() }
  }

  /// The vtables that types are known by only, as `TypeNames` looks them up.
  private func vtables() -> [(image: Image, address: Address)] {
    types.all.filter { $0.kind == .cxxVTable }.flatMap { type in
      let image = images.image(containing: type.definition, at: type.time)
      return image.map { image in type.words.map { (image, Address($0 &- 16)) } } ?? []
    }
  }

  /// Whether the files of an image can be read, which shows at the first look-up.
  private func state(of image: Image, lookingUp address: UInt64?) -> EmbeddedImageState? {
    let before = symbolicator.warnings.count
    if let address { _ = frames(at: address, in: image) }
    guard let warning = symbolicator.warnings.dropFirst(before).first else { return .read }
    return warning.reason == .newerThanTrace ? .readButNewer : nil
  }

  private func frames(at address: UInt64, in image: Image) -> [ImageSymbols.Frame] {
    let programCounter = address &+ image.loadBias
    let frames = symbolicator.frames(
      at: Address(programCounter), in: image, isExact: true)
    guard frames.contains(where: { $0.function != nil || $0.location != nil }) else { return [] }
    return frames.map { frame in
      ImageSymbols.Frame(
        function: frame.function, start: frame.functionOffset.map { address &- $0 },
        location: frame.location, isInlined: frame.isInlined)
    }
  }
}
