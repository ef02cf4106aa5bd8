import CTraceFormat

/// How the recorded process image ended.
public enum TraceEnding: Hashable, Sendable {
  /// `exit()` or return from `main`, with this status.
  case exit(Int32)
  /// `_exit()` or `_Exit()`, with this status.
  case underscoreExit(Int32)
  /// `quick_exit()`, with this status.
  case quickExit(Int32)
  /// The process replaced itself by another program.
  case exec
  /// The program called `abort()`.
  case abort
  /// Killed by this signal.
  case signal(Int32)
  /// The process was running when the trace was opened.
  case running
  /// No end was written: killed, crashed or, out of sight, still running.
  case unknown

  /// Decodes the end fields of a header.
  public init(header: TraceHeader) {
    switch header.endKind {
    case MT_END_EXIT.rawValue: self = .exit(Self.seenOutside(header.endStatus))
    case MT_END_UEXIT.rawValue: self = .underscoreExit(Self.seenOutside(header.endStatus))
    case MT_END_QUICK.rawValue: self = .quickExit(Self.seenOutside(header.endStatus))
    case MT_END_EXEC.rawValue: self = .exec
    case MT_END_ABORT.rawValue: self = .abort
    case MT_END_SIGNAL.rawValue: self = .signal(header.endStatus)
    default: self = .unknown
    }
  }

  /// What others see of the status that a program ends with: eight bits, 255 for `exit(-1)`.
  private static func seenOutside(_ status: Int32) -> Int32 { status & 0xff }
}
