import TraceReader

/// A symbolicator that reads ELF symbols and DWARF from the files that the images came from.
public final class ELFSymbolicator: Symbolicator {
  /// What could not be used and why, one for each image, in the order of first use.
  public private(set) var warnings: [SymbolicationWarning] = []

  /// Makes a symbolicator; files are opened when they are first needed.
  ///
  /// - Parameters:
  ///   - debugDirectories: Where separate debug files are looked for.
  ///   - recordedAt: When the recording began, in nanoseconds since 1970: an image without build
  ///     ID whose file is newer is doubtful.
  public init(debugDirectories: [String] = ["/usr/lib/debug"], recordedAt: UInt64? = nil) {}

  /// The frames of one program counter, innermost first.
  public func frames(
    at programCounter: Address, in image: Image?, isExact: Bool
  ) -> [SymbolicatedFrame] {
    [
      SymbolicatedFrame(
        programCounter: programCounter, imagePath: image?.path,
        imageOffset: image.map { programCounter.rawValue &- $0.loadBias })
    ]
  }
}
