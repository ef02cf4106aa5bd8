import TraceReader

/// The storage of an array of Swift: how many of its elements are in use.
///
/// ```
/// +16 count     +24 capacity, shifted by 1     +32 elements
/// ```
/// Behind the elements in use stands what `removeLast` took out, or what was in the memory before.
/// Source: `SwiftArrayBodyStorage` in `stdlib/public/SwiftShims/swift/shims/GlobalObjects.h` and
/// `ArrayBody.swift` in `stdlib/public/core` of the Swift repository.
struct SwiftArray {
  let count: UInt64
  let capacity: UInt64

  /// Where the elements begin: behind the counts and the capacity.
  static let elementsStart: UInt64 = 32

  /// Reads the header of an array.
  ///
  /// - Returns: nil where it says nothing that can be: in traces that do not keep it.
  init?(at address: UInt64, _ memory: SnapshotMemory) {
    let word = memory.word(at: address &+ 24)
    count = memory.word(at: address &+ 16)
    capacity = word >> 1
    guard capacity > 0, word & 1 == 0, capacity <= Self.greatestCapacity, count <= capacity else {
      return nil
    }
  }

  /// Where the elements in use are.
  ///
  /// - Parameter stride: How far elements are from each other; nil where that is not known.
  /// - Returns: Bytes from the beginning; nil where it is not known how large elements are.
  func elements(stride: UInt64?) -> UsedElements? {
    if count == 0 { return UsedElements(Self.elementsStart..<Self.elementsStart) }
    guard let stride, stride <= Self.greatestStride else { return nil }
    return UsedElements(Self.elementsStart..<Self.elementsStart + count * stride)
  }

  static let greatestCapacity: UInt64 = 1 << 40
  static let greatestStride: UInt64 = 1 << 20
}

/// Arrays, deques and nodes of trees that somebody may be adding elements to: `append(contentsOf:)` counts what it has taken from a
/// sequence when there is no more room, or no more to come.
///
/// Until then it has the address of the storage, or one in it, on its stack or in a register.
struct GrowingArrays: Sendable {
  private var blocks: Set<Int> = []

  /// Knows of none.
  init() {}

  /// - Parameters:
  ///   - scanner: Knows which blocks are such.
  ///   - roots: All of them.
  /// - Complexity: O(*words* of stacks).
  init(_ scanner: EdgeScanner, _ roots: [Root]) {
    guard scanner.hasGrowing else { return }
    RootWords(scanner.heap).forEachBlockInHand(of: roots) { block in
      if scanner.mayGrow(block) { blocks.insert(block) }
    }
  }

  /// Whether a block is one of them.
  func contains(_ block: Int) -> Bool { blocks.contains(block) }
}
