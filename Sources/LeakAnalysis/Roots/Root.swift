import TraceReader

/// Memory outside of all blocks that can hold a block.
public struct Root: Sendable, Hashable {
  /// What kind of memory.
  public enum Kind: Sendable, Hashable {
    /// The variables of an image; nil where the trace does not know the image.
    case global(image: Int?)
    /// The thread-local variables of a thread.
    case threadLocal(thread: UInt32)
    /// A mapping that the program made itself, or shared memory; nil without a file.
    case mapping(path: String?)
    /// Heap of which the trace does not know whether and by whom it is used.
    case unknownHeap
    /// The stack of a thread, from its stack pointer on.
    case stack(thread: UInt32)
    /// The registers of a thread.
    case registers(thread: UInt32)
    /// What the kernel knows of a thread's stack for signal handlers.
    case signalStack(thread: UInt32)
    /// What the program gave to the kernel, to get it back with an event.
    case kernel
    /// The program has said that a block is none to report.
    case ignored
    /// The program's language never frees an object.
    case immortal
  }

  /// Kinds of roots, in the order in which they are followed: what is held by several counts as held
  /// by the first, and a variable says more than a stack slot.
  public enum Category: UInt8, Sendable, Hashable, CaseIterable {
    case global, threadLocal, mapping, unknownHeap, stack, registers, kernel, signalStack, ignored
    case immortal
  }

  /// What kind of memory.
  public var kind: Kind
  /// The addresses; of registers and words of the kernel, their numbers times 8; of a signal stack, its own; of an ignored or immortal
  /// block, where it begins.
  public var range: Range<UInt64>
  /// The position of the thread in ``SnapshotInfo/threads``, for registers.
  public internal(set) var thread = 0
  /// The ignored or immortal block.
  var block = 0

  init(_ kind: Kind, _ range: Range<UInt64>) {
    self.kind = kind
    self.range = range
  }

  /// Whether it is memory in which objects stand for as long as the program keeps them: no stack, no register.
  var hasObjects: Bool {
    switch category {
    case .global, .threadLocal, .mapping: true
    default: false
    }
  }

  /// Whether it is no memory that leads to blocks, but a block that is none to report.
  var isBlock: Bool {
    switch category {
    case .ignored, .immortal: true
    default: false
    }
  }

  /// Whether words may be left there of functions that have returned, as of calls of the allocator.
  var mayHaveLeftovers: Bool {
    switch category {
    case .stack, .registers, .signalStack: true
    default: false
    }
  }

  /// The kind without its details.
  public var category: Category {
    switch kind {
    case .global: .global
    case .threadLocal: .threadLocal
    case .mapping: .mapping
    case .unknownHeap: .unknownHeap
    case .stack: .stack
    case .registers: .registers
    case .kernel: .kernel
    case .signalStack: .signalStack
    case .ignored: .ignored
    case .immortal: .immortal
    }
  }
}

/// A word of a root that points to a block.
public struct RootSlot: Sendable, Hashable {
  /// The root.
  public var root: Root
  /// Where the word is; of registers and words of the kernel, the number times 8; of a signal stack, where that begins.
  public var address: UInt64
}
