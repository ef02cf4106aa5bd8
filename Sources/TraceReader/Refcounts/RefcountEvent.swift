import CTraceFormat

/// A call that changed, or tried to change, the strong count of a Swift object.
///
/// Source: `REFCOUNTS` chunks. The calls by which objects are made, and loads of weak and unowned
/// references, have no events: their part shows in ``count``.
public struct RefcountEvent: Hashable, Sendable {
  /// What was called.
  public enum Call: UInt8, Hashable, Sendable, CaseIterable {
    /// `swift_retain`.
    case retain = 1
    /// `swift_release`.
    case release = 2
    /// `swift_retain_n`.
    case retainN = 3
    /// `swift_release_n`.
    case releaseN = 4
    /// `swift_tryRetain` of an object that was alive.
    case tryRetain = 5
    /// `swift_tryRetain` of one that was not.
    case tryRetainFailed = 6

    /// The name of the function.
    public var name: String {
      switch self {
      case .retain: "swift_retain"
      case .release: "swift_release"
      case .retainN: "swift_retain_n"
      case .releaseN: "swift_release_n"
      case .tryRetain, .tryRetainFailed: "swift_tryRetain"
      }
    }
  }

  /// What was called.
  public var call: Call
  /// When: releases before, retains around the change.
  public var time: EventTime
  /// The thread it happened in.
  public var thread: ThreadIndex
  /// Where the object begins.
  public var object: Address
  /// How many references were to be added or taken away.
  public var amount: UInt32
  /// Strong references before the call, as the object said; see ``isOfNoObject``.
  public var count: UInt64
  /// The backtrace of the call.
  public var stack: StackID

  /// Creates an event.
  public init(
    call: Call, time: EventTime, thread: ThreadIndex, object: Address, amount: UInt32 = 1,
    count: UInt64, stack: StackID = .none
  ) {
    self.call = call
    self.time = time
    self.thread = thread
    self.object = object
    self.amount = amount
    self.count = count
    self.stack = stack
  }

  /// Whether there was certainly no object: it had been freed, and its memory was another's.
  public var isOfNoObject: Bool { count == MT_REFCOUNT_NO_OBJECT }

  /// What the call does to the count: below zero for a release.
  public var change: Int64 {
    Int64(mt_refcount_sign(call.rawValue)) * Int64(amount)
  }
}
