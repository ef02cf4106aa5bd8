import CTraceFormat

/// What a mapping holds.
public enum SnapshotRegionKind: Hashable, Sendable {
  /// A segment of an ELF image, its zero-initialised variables included.
  case image
  /// The stack of a thread; perhaps its thread-local variables as well, above the stack.
  case stack
  /// Thread-local variables.
  case threadLocal
  /// The program break: `[heap]`.
  case heap
  /// Memory without a file.
  case anonymous
  /// A file.
  case file
  /// Of the kernel: `[vdso]`.
  case kernel
  /// Of the recorder: no words of it are kept, nor pointers to it.
  case recorder
}

/// A mapping of the process when a snapshot was taken.
public struct SnapshotRegion: Hashable, Sendable {
  /// How a mapping may be accessed.
  public struct Protection: OptionSet, Hashable, Sendable {
    /// The bits of the format.
    public let rawValue: UInt32
    /// Takes the bits of the format.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Can be read.
    public static let read = Protection(rawValue: MT_SNAPSHOT_READ.rawValue)
    /// Can be written.
    public static let write = Protection(rawValue: MT_SNAPSHOT_WRITE.rawValue)
    /// Can be executed.
    public static let execute = Protection(rawValue: MT_SNAPSHOT_EXECUTE.rawValue)
  }

  /// The first address.
  public var start: UInt64
  /// One past the last address.
  public var end: UInt64
  /// What it holds.
  public var kind: SnapshotRegionKind
  /// How it may be accessed.
  public var protection: Protection
  /// Whether it is a shared mapping.
  public var isShared: Bool
  /// Whether its words are in the snapshot.
  public var isKept: Bool
  /// The index of the image it belongs to.
  public var image: Int?
  /// The thread whose stack or thread-local variables it holds.
  public var thread: UInt32?
  /// Its name in the kernel: a path, `[heap]`, `[stack]`; nil when it has none.
  public var path: String?

  /// Creates a description.
  public init(
    start: UInt64, end: UInt64, kind: SnapshotRegionKind = .anonymous,
    protection: Protection = [.read, .write], isShared: Bool = false, isKept: Bool = true,
    image: Int? = nil, thread: UInt32? = nil, path: String? = nil
  ) {
    self.start = start
    self.end = end
    self.kind = kind
    self.protection = protection
    self.isShared = isShared
    self.isKept = isKept
    self.image = image
    self.thread = thread
    self.path = path
  }

  /// Whether the address lies in it.
  public func contains(_ address: UInt64) -> Bool { start <= address && address < end }

  /// The position of the region that holds an address, in regions that ascend and do not overlap.
  static func position(of address: UInt64, in regions: [SnapshotRegion]) -> Int? {
    let position = regions.partitioningIndex { $0.end > address }
    return position < regions.count && regions[position].start <= address ? position : nil
  }
}
