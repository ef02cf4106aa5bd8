import TraceReader

/// What lies in containers of `Any` and `any P`.
///
/// ```
/// +0 the value, or a box with it, in up to three words    +24 its metadata    +32 witness tables
/// ```
/// An object takes the first word, and so does a box; a text takes two, a number or a `Bool` no whole word
/// that could be a pointer. What is left of the three keeps what was there, perhaps the rest of a value
/// that the container held before.
/// Source: `OpaqueExistentialContainer` and `TargetGenericBoxHeapMetadata` in
/// `include/swift/ABI/Metadata.h` of the Swift repository.
extension ObjectLayout {
  /// Whether a word of a block lies behind the value, or the box with it, in a container.
  func isBehindValue(
    _ offset: UInt64, ofBlockAt address: UInt64, _ memory: SnapshotMemory,
    _ values: ExistentialValues
  ) -> Bool {
    existentialOffsets.contains { container in
      guard offset >= container, offset &- container < ExistentialValues.metadataOffset else {
        return false
      }
      return Self.isBehindValue(
        offset &- container, inContainerAt: address &+ container, memory,
        size: values.size(ofMetadata:))
    }
  }

  /// Whether a word lies behind the value, or the box with it, in a container.
  ///
  /// - Parameters:
  ///   - offset: The word, in bytes from the beginning of the container.
  ///   - place: Where the container begins.
  ///   - memory: Holds it.
  ///   - size: How many bytes a value takes in a container, by its metadata; nil where that is not known.
  /// - Returns: false where the container is empty, and where nothing tells how much of it the value takes.
  static func isBehindValue(
    _ offset: UInt64, inContainerAt place: UInt64, _ memory: SnapshotMemory,
    size: (UInt64) -> UInt64?
  ) -> Bool {
    let metadata = memory.word(at: place &+ ExistentialValues.metadataOffset)
    guard metadata != 0 else { return false }
    if let size = size(metadata) { return offset >= size & ~7 }
    let object = memory.word(at: place)
    guard object != 0, offset > 0 else { return false }
    return isClass(metadata, ofObjectAt: object, memory)
      || isContent(metadata, ofBoxAt: object, memory)
  }

  /// Whether the first word of a container is a reference that its object counts: to an instance of the class
  /// that the container says, or to a box.
  func holdsObject(at container: UInt64, _ memory: SnapshotMemory) -> Bool {
    let metadata = memory.word(at: container &+ ExistentialValues.metadataOffset)
    let object = memory.word(at: container)
    guard metadata != 0, object != 0 else { return false }
    return Self.isClass(metadata, ofObjectAt: object, memory)
      || Self.isContent(metadata, ofBoxAt: object, memory)
  }

  /// Whether metadata are those of the value in a box that the runtime has made, whose own metadata
  /// name them 16 bytes from their beginning.
  ///
  /// Those of a box that the compiler has made tell the type by its name only.
  private static func isContent(
    _ metadata: UInt64, ofBoxAt box: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    let known = memory.word(at: box)
    return known != 0 && memory.word(at: known &+ 16) == metadata
  }

  /// Whether metadata are those of an object's class or of one of its superclasses: a value of
  /// another kind may have the same address in its first word, but not these metadata.
  private static func isClass(
    _ metadata: UInt64, ofObjectAt object: UInt64, _ memory: SnapshotMemory
  ) -> Bool {
    var known = memory.word(at: object)
    for _ in 0..<deepestClass where known != 0 {
      if known == metadata { return true }
      known = memory.word(at: known &+ 8)
    }
    return false
  }

  /// More superclasses than this has no class.
  private static let deepestClass = 32
}

/// How much of containers of `Any` and `any P` the values in them take.
struct ExistentialValues {
  /// Where in a container the metadata are.
  static let metadataOffset: UInt64 = 24

  /// The bytes that values take in a container, by their metadata: a word, where they get a box.
  private var sizes: [UInt64: UInt64] = [:]

  /// Asks for the size of each type once.
  ///
  /// - Parameters:
  ///   - heap: The heap.
  ///   - layouts: Tell where containers are, by the first words of objects.
  ///   - valueSize: How many bytes a value takes, by the address of its type's value witnesses.
  init(
    _ heap: HeapImage, _ layouts: [UInt64: ObjectLayout], _ valueSize: (UInt64) -> UInt64?
  ) {
    let layouts = layouts.filter {
      !$0.value.existentialOffsets.isEmpty || !$0.value.contents.isEmpty
    }
    guard !layouts.isEmpty else { return }
    var asked: Set<UInt64> = []
    for block in 0..<heap.blocks.count {
      let address = heap.blocks.address(of: block)
      guard let layout = layouts[heap.memory.word(at: address)] else { continue }
      layout.layout(ofBlockAt: address, heap.memory).forEachMetadata(
        ofBlockAt: address, size: heap.blocks.size(of: block), heap.memory
      ) {
        guard asked.insert($0).inserted else { return }
        sizes[$0] = Self.size(ofMetadata: $0, heap.memory, valueSize)
      }
    }
  }

  /// The bytes that a value takes in a container, by its metadata; nil where that is not known.
  static func size(
    ofMetadata metadata: UInt64, _ memory: SnapshotMemory, _ valueSize: (UInt64) -> UInt64?
  ) -> UInt64? {
    let witnesses = memory.word(at: metadata &- 8)
    guard witnesses != 0, let size = valueSize(witnesses) else { return nil }
    return size > metadataOffset ? 8 : size
  }

  /// The bytes that a value takes in a container; nil where that is not known.
  func size(ofMetadata metadata: UInt64) -> UInt64? { sizes[metadata] }
}

extension ObjectLayout {
  /// Visits the metadata that containers in a block name.
  fileprivate func forEachMetadata(
    ofBlockAt address: UInt64, size: UInt64, _ memory: SnapshotMemory, _ body: (UInt64) -> Void
  ) {
    let table = table.flatMap { SwiftTable($0, at: address, size: size, memory) }
    memory.forEachWord(in: address..<address &+ size) { place, metadata in
      let offset = place &- address
      guard let part = start(of: offset, table, ofBlockAt: address),
        offset &- part >= ExistentialValues.metadataOffset,
        existentialOffsets.contains(offset &- part &- ExistentialValues.metadataOffset)
      else { return }
      body(metadata)
    }
  }
}
