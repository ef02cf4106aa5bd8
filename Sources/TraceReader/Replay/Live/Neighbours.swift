/// The live blocks on both sides of an address that lies in none.
struct Neighbours {
  /// How far from a block an address is still next to it: allocators need that much for themselves,
  /// and a pointer that has run over the end of a block is no further from it.
  static let reach: UInt64 = 16

  /// The one that ends at the address or before it.
  private var before: MemoryError.BlockSummary?
  /// The one that begins behind the address.
  private var after: MemoryError.BlockSummary?

  /// Takes in a block that ends or begins next to an address.
  mutating func add(_ block: MemoryError.BlockSummary, of address: UInt64) {
    if block.address.rawValue > address { after = block } else { before = block }
  }

  /// Forgets the block that begins at an address.
  mutating func remove(blockAt address: UInt64) {
    if before?.address.rawValue == address { before = nil }
    if after?.address.rawValue == address { after = nil }
  }

  /// The block that a deallocation of an address is most likely about.
  ///
  /// Loops run over the end more often than they begin too early. What no stack leads to is of no help.
  func likeliest(for operation: Operation, of address: UInt64) -> MemoryError.BlockSummary? {
    if operation.isArrayDelete, let after, Self.isTakenForArray(after, by: address) { return after }
    let ordered = [before, after].compactMap(\.self)
    return ordered.first { $0.allocation.stack != .none } ?? ordered.first
  }

  /// Whether `delete[]` of the block passes on the address, where it looks for the number of elements.
  private static func isTakenForArray(
    _ block: MemoryError.BlockSummary, by address: UInt64
  ) -> Bool {
    block.address.rawValue - address == 8 && !block.allocation.operation.family.isOfArrays
  }
}

extension Operation {
  /// Whether it is a form of `operator delete[]`.
  fileprivate var isArrayDelete: Bool { kind == .deallocation && family.isOfArrays }
}

extension AllocatorFamily {
  /// Whether its functions are those of `new T[n]`.
  fileprivate var isOfArrays: Bool { self == .newArray || self == .newArrayAligned }
}
