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
  private(set) var frames: [CallFrame] = []
  private var numbers: [CallFrame: Int] = [:]

  /// The number of a function, a new one when it is not known yet.
  mutating func number(of frame: CallFrame) -> Int {
    if let known = numbers[frame] { return known }
    let number = frames.count
    frames.append(frame)
    numbers[frame] = number
    return number
  }

  /// The number of a line that is no function.
  mutating func number(ofMarker name: String) -> Int {
    number(of: CallFrame(name: name, image: nil, role: .marker))
  }
}
