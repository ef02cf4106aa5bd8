import TraceReader

/// The places in variables of images from which blocks may be held, of which a report may want names.
///
/// And what else memory leads to in images that has a name: types, suspended code.
struct VariablePlaces {
  /// For each image, ELF addresses of words.
  private(set) var addresses: [UInt32: Set<UInt64>] = [:]
  /// What headers of exceptions of C++ may name as the description of what was thrown.
  private(set) var descriptions: Set<ThrownType> = []
  /// For each image, ELF addresses of the code in which suspended tasks of Swift go on.
  private(set) var code: [UInt32: Set<UInt64>] = [:]
  /// For each image, ELF addresses of what may be the value witnesses of a type of Swift.
  private(set) var witnesses: [UInt32: Set<UInt64>] = [:]

  /// A place of data in an image.
  struct ThrownType: Hashable {
    var image: UInt32
    var address: UInt64
  }

  /// No places.
  init() {}

  /// Finds them in all snapshots of a trace.
  init(_ trace: Trace) {
    let tasks = Set(trace.types.all.filter { $0.kind == .swiftTask }.flatMap(\.words))
    for info in trace.snapshots {
      guard let memory = try? trace.loadSnapshot(info.index) else { continue }
      add(info, memory, trace.images, tasks: tasks)
      if trace.types.hasSwift { addWitnesses(info, memory, trace.images) }
    }
  }

  /// Adds the words of a snapshot that may point to blocks.
  ///
  /// - Parameters:
  ///   - info: Which snapshot.
  ///   - memory: Its words.
  ///   - images: The images of the trace.
  ///   - tasks: What tasks of Swift begin with.
  mutating func add(
    _ info: SnapshotInfo, _ memory: SnapshotMemory, _ images: ImageMap, tasks: Set<UInt64> = []
  ) {
    for region in memory.regions where region.kind == .image {
      memory.forEachWord(in: region.start..<region.end) { address, value in
        guard Self.mayHold(value, memory),
          let image = images.image(containing: Address(address), at: info.time)
        else { return }
        addresses[image.index, default: []].insert(address &- image.loadBias)
      }
    }
    addDescriptions(info, memory, images)
    if !tasks.isEmpty { addCode(of: tasks, info, memory, images) }
  }

  private mutating func addCode(
    of tasks: Set<UInt64>, _ info: SnapshotInfo, _ memory: SnapshotMemory, _ images: ImageMap
  ) {
    for region in memory.regions where region.kind != .image {
      memory.forEachWord(in: region.start..<region.end) { address, value in
        guard tasks.contains(value) else { return }
        for code in memory.codeOfSuspendedTask(at: address) {
          guard let image = images.image(containing: Address(code), at: info.time) else { continue }
          self.code[image.index, default: []].insert(code &- image.loadBias)
        }
      }
    }
  }

  /// Adds the value witnesses of types that words may name: of what lies in an `Any` or `any P`.
  ///
  /// ```
  /// metadata   -8 value witnesses  +0 kind  +8 descriptor
  /// ```
  /// The runtime makes those of generic types outside of images.
  ///
  /// - Parameters:
  ///   - info: Which snapshot.
  ///   - memory: Its words.
  ///   - images: The images of the trace.
  mutating func addWitnesses(_ info: SnapshotInfo, _ memory: SnapshotMemory, _ images: ImageMap) {
    var found: Set<UInt64> = []
    for region in memory.regions where region.kind != .image {
      memory.forEachWord(in: region.start..<region.end) { _, value in
        guard value & 7 == 0, value >= 8, let region = memory.region(containing: value),
          region.kind == .image || Self.isData(memory.word(at: value &+ 8), memory)
        else { return }
        let witnesses = memory.word(at: value &- 8)
        if Self.isData(witnesses, memory) { found.insert(witnesses) }
      }
    }
    for address in found {
      guard let image = images.image(containing: Address(address), at: info.time) else { continue }
      witnesses[image.index, default: []].insert(address &- image.loadBias)
    }
  }

  private static func isData(_ address: UInt64, _ memory: SnapshotMemory) -> Bool {
    guard let region = memory.region(containing: address) else { return false }
    return region.kind == .image && !region.protection.contains(.execute)
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
