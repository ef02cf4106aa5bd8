/// The lines of a stack in which calls that come again and again, as those of a recursion, stand once.
struct FoldedStack {
  /// A line.
  enum Line {
    /// A frame.
    case frame(ReportFrame)
    /// The frames of the lines above come so many times more.
    case repetition(frames: Int, times: Int)

    /// How many frames it stands for.
    var frameCount: Int {
      switch self {
      case .frame: 1
      case .repetition(let frames, let times): frames * times
      }
    }
  }

  /// The lines, leaf first.
  private(set) var lines: [Line] = []

  /// Functions that call each other in a circle, at most.
  private static let longestCycle = 8
  /// Fewer frames are shown as they are.
  private static let fewestHidden = 3

  /// Folds a stack.
  init(_ frames: ArraySlice<ReportFrame>) {
    var rest = frames
    while let frame = rest.first {
      if let (length, times) = Self.cycle(rest) {
        lines += rest.prefix(length).map(Line.frame)
        lines.append(.repetition(frames: length, times: times - 1))
        rest = rest.dropFirst(length * times)
      } else {
        lines.append(.frame(frame))
        rest = rest.dropFirst()
      }
    }
  }

  /// The shortest run of frames that a stack begins with several times, and how many times.
  private static func cycle(_ frames: ArraySlice<ReportFrame>) -> (length: Int, times: Int)? {
    for length in 1...longestCycle {
      let same = zip(frames, frames.dropFirst(length)).prefix { $0.readsLike($1) }.count
      let times = same / length + 1
      if times > 1, (times - 1) * length >= max(fewestHidden, length + 1) { return (length, times) }
    }
    return nil
  }
}

extension ReportFrame {
  /// Whether a line of text says the same of both.
  func readsLike(_ other: ReportFrame) -> Bool {
    name == other.name && place == other.place && role == other.role
      && isInlined == other.isInlined
  }
}
