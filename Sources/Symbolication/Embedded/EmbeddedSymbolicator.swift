import TraceReader

/// A symbolicator that takes names from the trace itself, and from files where it has none.
public final class EmbeddedSymbolicator: Symbolicator {
  private let symbols: EmbeddedSymbols
  private let files: any Symbolicator
  private let prefersFiles: Bool
  /// Images that were warned of.
  private var known: Set<String> = []
  private var filesWarningCount = 0

  /// What could not be used and why, one for each image, in the order of first use.
  public private(set) var warnings: [SymbolicationWarning] = []

  /// Makes a symbolicator.
  ///
  /// - Parameters:
  ///   - chunks: The contents of the trace's SYMBOLS chunks, `Trace.symbolContents()`.
  ///   - files: Where names are looked up that the trace does not have.
  ///   - prefersFiles: Whether to look there first, because debug files were named that may say
  ///     more than was known when the trace was packed.
  public init(_ chunks: [[UInt8]], files: any Symbolicator, prefersFiles: Bool = false) {
    symbols = EmbeddedSymbols(chunks)
    self.files = files
    self.prefersFiles = prefersFiles
  }

  /// The frames of one program counter, innermost first.
  public func frames(
    at programCounter: Address, in image: Image?, isExact: Bool
  ) -> [SymbolicatedFrame] {
    guard let image, let state = symbols.state(of: image.index) else {
      return framesOfFiles(at: programCounter, in: image, isExact: isExact, warns: true)
    }
    if prefersFiles {
      let frames = framesOfFiles(at: programCounter, in: image, isExact: isExact, warns: false)
      if frames.contains(where: { $0.function != nil }) { return frames }
    }
    note(state, of: image)
    let offset = programCounter.rawValue &- image.loadBias
    return SymbolicatedFrame.frames(
      symbols.frames(at: isExact ? offset : offset &- 1, in: image.index), at: programCounter,
      in: image)
  }

  /// The symbol of the C++ vtable that begins at an address; `nil` where there is none.
  public func vtableSymbol(at address: Address, in image: Image) -> String? {
    let known = symbols.vtable(at: address.rawValue &- image.loadBias, in: image.index)
    if let known { return known }
    // Files that were read when the trace was packed have no other vtables.
    guard symbols.state(of: image.index) == nil || prefersFiles else { return nil }
    let symbol = files.vtableSymbol(at: address, in: image)
    takeWarnings(adds: symbols.state(of: image.index) == nil)
    return symbol
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
