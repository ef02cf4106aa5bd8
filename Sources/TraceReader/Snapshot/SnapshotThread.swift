import CTraceFormat

/// A thread of the process when a snapshot was taken.
public struct SnapshotThread: Hashable, Sendable {
  /// How the thread was when the image was made.
  public enum State: Hashable, Sendable {
    /// It took the snapshot.
    case taker
    /// It stood still.
    case parked
    /// It went on, because it holds back every signal that could have parked it.
    case blockingSignals
    /// It went on, because it did not answer in time.
    case silent
    /// A state that this version of the reader does not know.
    case unknown(UInt32)

    init(code: UInt32) {
      switch code {
      case MT_SNAPSHOT_TAKER.rawValue: self = .taker
      case MT_SNAPSHOT_PARKED.rawValue: self = .parked
      case MT_SNAPSHOT_BLOCKING.rawValue: self = .blockingSignals
      case MT_SNAPSHOT_SILENT.rawValue: self = .silent
      default: self = .unknown(code)
      }
    }
  }

  /// The recorder's index of the thread; 0 when it had not met it.
  public var thread: UInt32
  /// The kernel's thread ID.
  public var tid: UInt32
  /// How it was.
  public var state: State
  /// The stack pointer, 0 when not known; words from ``stackStart`` on are alive.
  public var sp: UInt64
  /// Where it was executing; 0 when not known.
  public var pc: UInt64
  /// General registers, then words of vector registers: all that may hold a pointer.
  ///
  /// x86_64: rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8–r15; aarch64: x0–x30, sp. Those of vectors are there outside of
  /// system calls, as wide as something lies in them; see docs/trace-format.md.
  public var registers: [UInt64]
  /// The thread pointer, near which its thread-local variables are; 0 when not known.
  public var tlsBase: UInt64
  /// Where its signal handlers run that ask for it (`sigaltstack`); nil without such a stack.
  ///
  /// Often only the kernel knows where it is.
  public var signalStack: Range<UInt64>?

  /// Creates a description.
  public init(
    thread: UInt32, tid: UInt32, state: State = .parked, sp: UInt64, pc: UInt64 = 0,
    registers: [UInt64] = [], tlsBase: UInt64 = 0, signalStack: Range<UInt64>? = nil
  ) {
    self.thread = thread
    self.tid = tid
    self.state = state
    self.sp = sp
    self.pc = pc
    self.registers = registers
    self.tlsBase = tlsBase
    self.signalStack = signalStack
  }

  /// Whether its registers and stack are those of the moment of the snapshot.
  public var stoodStill: Bool { state == .taker || state == .parked }

  /// The lowest live address of its stack; nil when not known.
  ///
  /// 128 bytes below `sp`, where leaf functions of x86_64 may keep variables. A thread that took the
  /// snapshot and gave no registers was in a call of the recorder: what is below is not its own. Nor
  /// does the C library keep anything there across a system call.
  public var stackStart: UInt64? {
    guard sp > 128 else { return nil }
    let isInCall = state == .taker && registers.isEmpty || isInSystemCall
    return (isInCall ? sp : sp - 128) & ~7
  }

  /// Whether it was in a system call of the C library: then it has no vector registers.
  private var isInSystemCall: Bool { registers.count == Self.generalRegistersOfX86 }

  private static let generalRegistersOfX86 = 16
}
