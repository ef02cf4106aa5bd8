import TraceReader

/// A symbolicator with a table instead of files, for tests of reports.
public final class FakeSymbolicator: Symbolicator {
  private var table: [Address: [SymbolicatedFrame]]
  private var variables: [(addresses: Range<UInt64>, name: String)] = []

  /// What ``warnings`` gives.
  public var warnings: [SymbolicationWarning] = []

  /// Makes a symbolicator that knows these program counters (as recorded, not adjusted).
  public init(_ table: [Address: [SymbolicatedFrame]] = [:]) {
    self.table = table
  }

  /// Adds a function at a program counter; called again for the same one, an inlined caller.
  ///
  /// The frames added before become inlined ones. `name` may be mangled.
  public func add(
    _ name: String, at programCounter: UInt64, file: String? = nil, line: Int = 0, column: Int = 0,
    image: String? = "/opt/app/app"
  ) {
    let address = Address(rawValue: programCounter)
    let inner = (table[address] ?? []).map { frame in
      SymbolicatedFrame(
        programCounter: frame.programCounter, function: frame.function, location: frame.location,
        isInlined: true, imagePath: frame.imagePath, imageOffset: frame.imageOffset)
    }
    let frame = SymbolicatedFrame(
      programCounter: address, function: Demangler.name(of: name),
      location: file.map { SourceLocation(path: $0, line: line, column: column) },
      imagePath: image, imageOffset: programCounter)
    table[address] = inner + [frame]
  }

  /// Adds a variable.
  public func addVariable(_ name: String, at addresses: Range<UInt64>) {
    variables.append((addresses, name))
  }

  /// The variable that holds an address.
  public func dataSymbol(at address: Address, in image: Image) -> DataSymbol? {
    variables.first { $0.addresses.contains(address.rawValue) }.map {
      DataSymbol(
        name: $0.name, offset: address.rawValue - $0.addresses.lowerBound,
        size: $0.addresses.upperBound - $0.addresses.lowerBound)
    }
  }

  /// The frames of the table; `image+0xoffset` for an address that is not in it.
  public func frames(
    at programCounter: Address, in image: Image?, isExact: Bool
  ) -> [SymbolicatedFrame] {
    if let known = table[programCounter] { return known }
    return [
      SymbolicatedFrame(
        programCounter: programCounter, imagePath: image?.path,
        imageOffset: image.map { programCounter.rawValue &- $0.loadBias })
    ]
  }
}
