import TraceReader

/// A function as a call tree shows it: calls from different lines are one.
struct CallFrame: Sendable, Hashable {
  var name: String
  var image: String?
  var role: ReportFrame.Role
}

/// Numbers the functions of backtraces, so that a tree is built by comparing integers.
///
/// A call tree reads every frame of every stack that it counts; with the names themselves as keys
/// most of the time would go into hashing them again and again.
struct CallFrameTable {
  private var numbering = Numbering<CallFrame>()

  /// The functions; each is at its number.
  var frames: [CallFrame] { numbering.values }

  /// The number of a function, a new one when it is not known yet.
  mutating func number(of frame: CallFrame) -> Int { numbering.number(of: frame) }

  /// The number of a line that is no function.
  mutating func number(ofMarker name: String) -> Int {
    number(of: CallFrame(name: name, image: nil, role: .marker))
  }
}
