import TraceReader

/// The places in variables of images from which blocks may be held: of these a report may want the
/// variables' names.
struct VariablePlaces {
  /// For each image, ELF addresses of words.
  private(set) var addresses: [UInt32: Set<UInt64>] = [:]
  /// What headers of exceptions of C++ may name as the description of what was thrown.
  private(set) var descriptions: Set<ThrownType> = []

  /// A place of data in an image.
  struct ThrownType: Hashable {
    var image: UInt32
    var address: UInt64
  }

  /// No places.
  init() {}

  /// Finds them in all snapshots of a trace.
  init(_ trace: Trace) {
    for info in trace.snapshots {
      guard let memory = try? trace.loadSnapshot(info.index) else { continue }
      add(info, memory, trace.images)
    }
  }

  /// Adds the words of a snapshot that may point to blocks.
  mutating func add(_ info: SnapshotInfo, _ memory: SnapshotMemory, _ images: ImageMap) {
    for region in memory.regions where region.kind == .image {
      memory.forEachWord(in: region.start..<region.end) { address, value in
        guard Self.mayHold(value, memory),
          let image = images.image(containing: Address(address), at: info.time)
        else { return }
        addresses[image.index, default: []].insert(address &- image.loadBias)
      }
    }
    addDescriptions(info, memory, images)
  }

  /// In a header two pointers to code follow, with one between that may be null.
  private mutating func addDescriptions(
    _ info: SnapshotInfo, _ memory: SnapshotMemory, _ images: ImageMap
  ) {
    let isOfImage = { (address: UInt64, isCode: Bool) in
      guard let region = memory.region(containing: address) else { return false }
      return region.kind == .image && region.protection.contains(.execute) == isCode
    }
    var found: Set<UInt64> = []
    for region in memory.regions where region.kind != .image {
      memory.forEachWord(in: region.start..<region.end) { address, value in
        guard isOfImage(value, false), isOfImage(memory.word(at: address &+ 16), true),
          isOfImage(memory.word(at: address &+ 24), true)
        else { return }
        found.insert(value)
      }
    }
    for value in found {
      guard let image = images.image(containing: Address(value), at: info.time) else { continue }
      descriptions.insert(
        ThrownType(image: image.index, address: value &- image.loadBias))
    }
  }

  /// Whether a word can point to a block: with or without tags, or as the reference of a Swift
  /// object to its side table, into memory that is no constant or code of an image.
  private static func mayHold(_ value: UInt64, _ memory: SnapshotMemory) -> Bool {
    [value, value & 0x0000_7fff_ffff_fff8, value << 3].contains { address in
      guard let region = memory.region(containing: address) else { return false }
      return region.kind != .image || region.protection.contains(.write)
    }
  }
}
