/// A misuse of the allocator.
public struct MemoryError: Hashable, Sendable {
  /// What was wrong.
  public enum Kind: Hashable, Sendable {
    /// The block had been freed before.
    case doubleFree
    /// The address was never allocated.
    case freeOfUnknown
    /// The address lies inside a block, this many bytes from its start.
    case freeOfInterior(offset: UInt64)
    /// `realloc` of a block that had been freed before.
    case reallocOfFreed
    /// The deallocation function does not go with the allocation function.
    case mismatched
    /// A sized deallocation said this size, which is not the requested one.
    case wrongSize(UInt64)
    /// A deallocation said this alignment, which is not the requested one.
    case wrongAlignment(UInt64)
    /// A Swift object was released that had no strong reference any more, or a freed one was
    /// retained or released.
    case overRelease
    /// A freed block that was kept back was written to: so many bytes from this offset on, as far as
    /// the changed words tell.
    case writeAfterFree(offset: UInt64, length: UInt64, found: ZombieUse.Discovery)
    /// What was read from a freed block that was kept back was followed, which a signal ended.
    case useAfterFree(signal: Int32)
    /// A freed block that nobody may touch was to be accessed, which a signal stopped.
    case accessAfterFree(MemoryAccess)
    /// What lies beside a guarded block was to be accessed, which a signal stopped.
    case outOfBounds(MemoryAccess)
    /// Bytes behind the end of the block were written to: so many from this offset on, or at least so
    /// many, where its redzone ends there.
    case heapOverflow(
      offset: UInt64, length: UInt64, isAtLeast: Bool = false, found: BlockOverrun.Discovery)
    /// Bytes in front of the block were written to: so many from so far in front of it on.
    case heapUnderflow(distance: UInt64, length: UInt64, found: BlockOverrun.Discovery)

    /// The kind without its details.
    public var category: Category {
      switch self {
      case .doubleFree: .doubleFree
      case .freeOfUnknown: .freeOfUnknown
      case .freeOfInterior: .freeOfInterior
      case .reallocOfFreed: .reallocOfFreed
      case .mismatched: .mismatched
      case .wrongSize: .wrongSize
      case .wrongAlignment: .wrongAlignment
      case .overRelease: .overRelease
      case .writeAfterFree: .writeAfterFree
      case .useAfterFree, .accessAfterFree: .useAfterFree
      case .outOfBounds: .outOfBounds
      case .heapOverflow: .heapOverflow
      case .heapUnderflow: .heapUnderflow
      }
    }
  }

  /// ``Kind`` without details, to count by.
  public enum Category: String, Hashable, Sendable, CaseIterable {
    case doubleFree
    case freeOfUnknown
    case freeOfInterior
    case reallocOfFreed
    case mismatched
    case wrongSize
    case wrongAlignment
    case overRelease
    case writeAfterFree
    case useAfterFree
    case heapOverflow
    case heapUnderflow
    case outOfBounds
  }

  /// A block as it was allocated.
  public struct BlockSummary: Hashable, Sendable {
    /// Where the block begins.
    public var address: Address
    /// Requested bytes.
    public var size: UInt64
    /// The alignment asked for; 0 when none was.
    public var alignment: UInt64
    /// The event that allocated it.
    public var allocation: EventSite

    /// Creates a summary.
    public init(
      address: Address, size: UInt64, alignment: UInt64 = 0, allocation: EventSite
    ) {
      self.address = address
      self.size = size
      self.alignment = alignment
      self.allocation = allocation
    }
  }

  /// An event: what, where, by whom and when.
  public struct EventSite: Hashable, Sendable {
    /// The function that was called.
    public var operation: Operation
    /// The backtrace of the call.
    public var stack: StackID
    /// The thread it happened in.
    public var thread: ThreadIndex
    /// When it happened.
    public var time: EventTime

    /// Creates an event description.
    public init(operation: Operation, stack: StackID, thread: ThreadIndex, time: EventTime) {
      self.operation = operation
      self.stack = stack
      self.thread = thread
      self.time = time
    }
  }

  /// What was wrong.
  public var kind: Kind
  /// The address that was passed.
  public var address: Address
  /// The block that is meant; nil when none is known.
  public var block: BlockSummary?
  /// For an address that was never allocated, a live block that ends or begins next to it.
  public var neighbour: BlockSummary?
  /// The deallocation that ended the block before; nil when it was live.
  public var firstFree: EventSite?
  /// The event that is wrong.
  ///
  /// Of a write to a freed block or past the end of one only when it was found is known, and by which thread.
  public var offending: EventSite
  /// For an over-release, the retains and releases of the object from its allocation on.
  public var refcounts: [RefcountEvent] = []
  /// The name of the mark of the program at which it was found; nil where it was not at one.
  public var mark: String?
  /// How many errors with the same kind and stacks there are; the details are of the first.
  public var count: UInt64 = 1

  /// Creates an error.
  public init(
    kind: Kind, address: Address, block: BlockSummary?, firstFree: EventSite?, offending: EventSite,
    count: UInt64 = 1
  ) {
    self.kind = kind
    self.address = address
    self.block = block
    self.firstFree = firstFree
    self.offending = offending
    self.count = count
  }
}
