import CTraceFormat

/// Something that the recorder had to say.
///
/// Source: `NOTE` records.
public struct Note: Hashable, Sendable {
  /// What a note is about.
  public enum Kind: Hashable, Sendable {
    /// Free text.
    case text
    /// `path: reason` of a child that cannot be recorded; the value is 1 when it stands for all that
    /// the process forks from then on.
    case childNotFollowed
    /// `function: image` of calls that do not reach the recorder.
    case bypassed
    /// The path of a program that an exec was tried on.
    case exec
    /// A child process was forked; the value is its process ID.
    case child
    /// The path of an image whose calls of the allocator went past the recorder until it was loaded
    /// (`RTLD_DEEPBIND`); the value is 1 when its initialisers may have made some.
    case rebound
    /// Why there is no whole heap snapshot at the end; the value is the system's error number.
    case noSnapshot
    /// Who started the process to see it crash: `exit test of Swift Testing`.
    case mayCrash
    /// Freed blocks are kept back from their allocator; the value is how many bytes of them.
    case zombies
    /// Blocks have redzones behind them; the value is how many bytes each has.
    case redzones
    /// Blocks are guarded, one in `value`; the text says of which sizes.
    case guarded
    /// Allocations are made to fail; the text says which, counted from 1.
    case failAt
    /// Allocations are made to fail that would make more live bytes than the value.
    case limit
    /// The process had run for `value` nanoseconds when recording began.
    case attached
    /// `functions: image` of the allocator that an image has for itself, which is recorded; the value is
    /// how many calls were led to the recorder.
    case bundled
    /// The value of the variable `PYTHONMALLOC` when the process was started.
    case pythonMalloc
    /// What the process called itself at its end: `postgres: checkpointer`.
    case title
    /// A kind that this version of the reader does not know.
    case unknown(UInt32)

    init(code: UInt32) {
      switch code {
      case MT_NOTE_TEXT.rawValue: self = .text
      case MT_NOTE_CHILD_NOT_FOLLOWED.rawValue: self = .childNotFollowed
      case MT_NOTE_BYPASSED.rawValue: self = .bypassed
      case MT_NOTE_EXEC.rawValue: self = .exec
      case MT_NOTE_CHILD.rawValue: self = .child
      case MT_NOTE_REBOUND.rawValue: self = .rebound
      case MT_NOTE_NO_SNAPSHOT.rawValue: self = .noSnapshot
      case MT_NOTE_MAY_CRASH.rawValue: self = .mayCrash
      case MT_NOTE_ZOMBIES.rawValue: self = .zombies
      case MT_NOTE_REDZONES.rawValue: self = .redzones
      case MT_NOTE_GUARD.rawValue: self = .guarded
      case MT_NOTE_FAIL_AT.rawValue: self = .failAt
      case MT_NOTE_LIMIT.rawValue: self = .limit
      case MT_NOTE_ATTACHED.rawValue: self = .attached
      case MT_NOTE_BUNDLED.rawValue: self = .bundled
      case MT_NOTE_PYTHON_MALLOC.rawValue: self = .pythonMalloc
      case MT_NOTE_TITLE.rawValue: self = .title
      default: self = .unknown(code)
      }
    }
  }

  /// What it is about.
  public var kind: Kind
  /// When it happened.
  public var time: EventTime
  /// A number whose meaning depends on the kind.
  public var value: UInt64
  /// What was said.
  public var text: String

  /// Creates a note.
  public init(kind: Kind, time: EventTime, value: UInt64 = 0, text: String) {
    self.kind = kind
    self.time = time
    self.value = value
    self.text = text
  }
}

/// A moment that the program, or somebody outside, named.
///
/// Source: `MARK` records.
public struct Mark: Hashable, Sendable {
  /// When it happened.
  public var time: EventTime
  /// The thread that called; 0 for a mark from outside.
  public var thread: ThreadIndex
  /// The name that was given.
  public var name: String

  /// Creates a mark.
  public init(time: EventTime, thread: ThreadIndex, name: String) {
    self.time = time
    self.thread = thread
    self.name = name
  }
}
