/// What a mapping is for, as far as the call that made it tells.
public enum MappingKind: String, Hashable, Sendable, CaseIterable {
  /// Private memory that can be read and written.
  case anonymous
  /// Private memory in huge pages (`MAP_HUGETLB`).
  case hugePages
  /// Private memory that can be executed: code made at run time.
  case executable
  /// For a stack (`MAP_STACK`, `MAP_GROWSDOWN`).
  case stack
  /// Addresses that nobody was ever to touch (`PROT_NONE`): no memory.
  case reserved
  /// Memory that other processes may have as well: anonymous, of `memfd_create` or in `/dev/shm`.
  case shared
  /// A file.
  case file
  /// Something in `/dev`.
  case device
  /// The end of the data segment, moved by `brk` or `sbrk`.
  case programBreak
}

extension MappingKind {
  // mmap(2); the values are those of x86_64 and aarch64.
  static let mapShared: UInt32 = 0x1
  private static let mapAnonymous: UInt32 = 0x20
  private static let mapGrowsDown: UInt32 = 0x100
  private static let mapStack: UInt32 = 0x2_0000
  private static let mapHugePages: UInt32 = 0x4_0000
  private static let protExec: UInt32 = 0x4

  /// The kind of what `mmap` begins.
  init(protection: UInt32, flags: UInt32, path: String) {
    let isShared = flags & Self.mapShared != 0
    if flags & Self.mapAnonymous == 0 {
      self = Self.kind(ofPath: path)
    } else if flags & (Self.mapStack | Self.mapGrowsDown) != 0 {
      self = .stack
    } else if isShared {
      self = .shared
    } else if flags & Self.mapHugePages != 0 {
      self = .hugePages
    } else {
      self.init(privateWithProtection: protection)
    }
  }

  /// The kind of private anonymous memory by what may be done with it.
  init(privateWithProtection protection: UInt32) {
    self =
      protection == 0 ? .reserved : protection & Self.protExec != 0 ? .executable : .anonymous
  }

  private static func kind(ofPath path: String) -> MappingKind {
    // A private mapping of it is how memory was had before there were anonymous ones.
    if path == "/dev/zero" { return .anonymous }
    if path.hasPrefix("/memfd:") || path.hasPrefix("/dev/shm/") { return .shared }
    return path.hasPrefix("/dev/") ? .device : .file
  }
}
