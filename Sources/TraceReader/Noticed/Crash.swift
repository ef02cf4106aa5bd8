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

  /// Creates a crash.
  public init(
    access: MemoryAccess.Kind, address: UInt64, signal: Int32, code: Int32, thread: ThreadIndex,
    stack: StackID, time: EventTime
  ) {
    self.access = access
    self.address = address
    self.signal = signal
    self.code = code
    self.thread = thread
    self.stack = stack
    self.time = time
  }
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
    guard !cursor.isPastEnd else { return nil }
    self.signal = Int32(truncatingIfNeeded: signal)
    self.code = Int32(bitPattern: code)
  }
}
