import CTraceFormat

/// A call of the program that mapped memory, unmapped it, or changed what may be done with it.
///
/// Source: `MAPPING` records; docs/trace-format.md, "Mappings".
public struct MappingCall: Hashable, Sendable {
  /// The function, without what tells its variants apart.
  public enum Function: Hashable, Sendable {
    case mmap, munmap, mremap, mprotect
    /// `brk` or `sbrk`.
    case programBreak
  }

  /// The function that was called.
  public var function: Function
  /// Before the call: what it ends, ended after this.
  public var endTime: EventTime
  /// After the call: what it begins, began before this.
  public var time: EventTime
  /// What it ends; empty for nothing.
  ///
  /// Of `mremap` it begins where the mapping was in any case.
  public var ended: MappedRange
  /// What it begins, or, of `mprotect`, what it changes; empty for nothing.
  public var begun: MappedRange
  /// Where in the file that is.
  public var offset: UInt64
  /// The backtrace; none where the call was made inside another one that was recorded.
  public var stack: StackID
  /// The calling thread.
  public var thread: ThreadIndex
  /// `PROT_*`, of `mmap` and `mprotect`.
  public var protection: UInt32
  /// `MAP_*` of `mmap`, `MREMAP_*` of `mremap`.
  public var flags: UInt32
  /// The file's path as the kernel told it; empty for anonymous memory.
  public var path: String

  /// Creates a call.
  public init(
    _ function: Function, endTime: EventTime, time: EventTime, ended: MappedRange = .empty,
    begun: MappedRange = .empty, offset: UInt64 = 0, stack: StackID = StackID(0),
    thread: ThreadIndex = ThreadIndex(0), protection: UInt32 = 0, flags: UInt32 = 0,
    path: String = ""
  ) {
    self.function = function
    self.endTime = endTime
    self.time = time
    self.ended = ended
    self.begun = begun
    self.offset = offset
    self.stack = stack
    self.thread = thread
    self.protection = protection
    self.flags = flags
    self.path = path
  }

  /// Reads a `MAPPING` record; nil when it is cut, or of a function that is not known.
  init?(decoding cursor: inout ByteCursor) {
    (endTime, time) = (EventTime(cursor.read()), EventTime(cursor.read()))
    ended = MappedRange(at: cursor.read(), length: cursor.read())
    begun = MappedRange(at: cursor.read(), length: cursor.read())
    offset = cursor.read()
    let code: UInt32 = cursor.read()
    (stack, thread) = (StackID(cursor.read()), ThreadIndex(cursor.read()))
    (protection, flags) = (cursor.read(), cursor.read())
    path = cursor.text(cursor.read())
    guard !cursor.isPastEnd, let function = Function(code: code) else { return nil }
    self.function = function
  }
}

extension MappingCall.Function {
  /// The name of the function, `brk` for `sbrk` as well.
  public var name: String {
    switch self {
    case .mmap: "mmap"
    case .munmap: "munmap"
    case .mremap: "mremap"
    case .mprotect: "mprotect"
    case .programBreak: "brk"
    }
  }

  fileprivate init?(code: UInt32) {
    switch code {
    case MT_MAPPING_MMAP.rawValue: self = .mmap
    case MT_MAPPING_MUNMAP.rawValue: self = .munmap
    case MT_MAPPING_MREMAP.rawValue: self = .mremap
    case MT_MAPPING_BREAK.rawValue: self = .programBreak
    case MT_MAPPING_PROTECT.rawValue: self = .mprotect
    default: return nil
    }
  }
}

/// Addresses from one up to another, which is not in it.
public struct MappedRange: Hashable, Sendable {
  /// The first address.
  public var start: UInt64
  /// The address behind the last one.
  public var end: UInt64

  /// No addresses.
  public static let empty = MappedRange(start: 0, end: 0)

  /// Creates a range; an end before the start makes it empty.
  public init(start: UInt64, end: UInt64) {
    self.start = start
    self.end = max(start, end)
  }

  /// Creates a range that does not go beyond the last address.
  public init(at start: UInt64, length: UInt64) {
    let (end, overflow) = start.addingReportingOverflow(length)
    self.init(start: start, end: overflow ? .max : end)
  }

  /// How many bytes there are.
  public var length: UInt64 { end - start }

  /// Whether there are none.
  public var isEmpty: Bool { start == end }
}
