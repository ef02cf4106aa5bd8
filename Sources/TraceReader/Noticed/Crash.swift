/// Where a process ended that did not mean to: in a fault, or in `abort`.
public struct Crash: Hashable, Sendable {
  /// What was to be done with the address; unknown where it was no access.
  public var access: MemoryAccess.Kind
  /// What could not be accessed, as the kernel says; 0 where it does not, or nothing was.
  public var address: UInt64
  /// The signal, `SIGABRT` of a call of `abort`.
  public var signal: Int32
  /// What the signal is about, the kernel's `si_code`.
  public var code: Int32
  /// Who it was.
  public var thread: ThreadIndex
  /// Its stack.
  public var stack: StackID
  /// When it was.
  public var time: EventTime
  /// Where its stack pointer was; 0 where that is not known.
  public var stackPointer: UInt64
  /// Whether there was no memory at the stack pointer.
  public var isOutOfStack: Bool

  /// Creates a crash.
  public init(
    access: MemoryAccess.Kind, address: UInt64, signal: Int32, code: Int32, thread: ThreadIndex,
    stack: StackID, time: EventTime, stackPointer: UInt64 = 0, isOutOfStack: Bool = false
  ) {
    self.access = access
    self.address = address
    self.signal = signal
    self.code = code
    self.thread = thread
    self.stack = stack
    self.time = time
    self.stackPointer = stackPointer
    self.isOutOfStack = isOutOfStack
  }
}

extension Crash {
  /// What could not be accessed; nil where it was no access to memory, or the kernel does not say.
  public var accessedAddress: UInt64? {
    isAccess && code < Self.generalProtection ? address : nil
  }

  /// Whether it was an access to memory.
  public var isAccess: Bool {
    [Self.busError, Self.segmentationFault].contains(signal) && code > 0
  }

  /// Whether the thread has used up its stack: it was about to go on where there is none any more.
  ///
  /// A function that is called writes right below the stack pointer; one with large variables has moved it first.
  public var isStackOverflow: Bool {
    guard let address = accessedAddress, access != .execute, stackPointer != 0 else { return false }
    return address < stackPointer
      ? stackPointer - address <= Self.farthestProbe
      : isOutOfStack && address - stackPointer <= Self.largestFrame
  }

  /// `SEGV_MAPERR`, the code of a segmentation fault: nothing is mapped there.
  public static let notMapped: Int32 = 1

  private static let busError: Int32 = 7
  private static let segmentationFault: Int32 = 11
  /// `SI_KERNEL` of a fault for which the processor gives no address: that of a word that is none.
  private static let generalProtection: Int32 = 128
  /// How far below the stack pointer code looks whether there is stack (`-fstack-check`).
  private static let farthestProbe: UInt64 = 1 << 16
  /// The variables of one function that take more are no bug of its callers.
  private static let largestFrame: UInt64 = 1 << 24
}

extension Crash {
  /// The one that a process ended with.
  ///
  /// A program that handles `SIGABRT` may have called `abort` before, and gone on. Of threads that crash together, the
  /// first one counts.
  static func last(of crashes: [Crash], in ending: TraceEnding) -> Crash? {
    let isEarlier = { (left: Crash, right: Crash) in left.time < right.time }
    return switch ending {
    case .abort, .signal(abort): crashes.filter { $0.signal == abort }.max(by: isEarlier)
    case .signal(let signal): crashes.filter { $0.signal == signal }.min(by: isEarlier)
    default: nil
    }
  }

  /// `SIGABRT`.
  private static let abort: Int32 = 6

  /// Decodes what follows the record's header; nil for what does not fit into it.
  init?(decoding cursor: inout ByteCursor) {
    time = EventTime(cursor.read())
    address = cursor.read()
    let (signal, code): (UInt32, UInt32) = (cursor.read(), cursor.read())
    access = MemoryAccess.Kind(code: cursor.read())
    thread = ThreadIndex(cursor.read())
    stack = StackID(cursor.read(UInt32.self))
    let isOutOfStack: UInt32 = cursor.read()
    stackPointer = cursor.read()
    guard !cursor.isPastEnd else { return nil }
    self.isOutOfStack = isOutOfStack != 0
    self.signal = Int32(truncatingIfNeeded: signal)
    self.code = Int32(bitPattern: code)
  }
}
