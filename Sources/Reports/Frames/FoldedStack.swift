/// Frames to print, where what a recursion calls over and over is told once.
package struct FoldedStack {
  /// A line of the stack.
  package enum Line {
    case frame(ReportFrame)
    /// The `period` lines in front of it come again, so many `times`.
    case again(period: Int, times: Int)

    /// How many frames it stands for.
    package var frameCount: Int {
      switch self {
      case .frame: 1
      case .again(let period, let times): period * times
      }
    }

    /// The frame of a user's function.
    var isUser: Bool {
      if case .frame(let frame) = self { frame.role == .user } else { false }
    }
  }

  /// The lines, leaf first.
  package private(set) var lines: [Line] = []

  /// More functions than this that call each other in turn are not looked for.
  private static let longestPeriod = 8

  /// Two calls in a row are shorter than a line about them is clear.
  private static let fewestRepetitions = 2

  /// Folds frames, of which equal ones are those that are printed alike.
  package init(_ frames: some Collection<ReportFrame>) {
    let frames = Array(frames)
    let prints = frames.map { Print($0) }
    var index = 0
    while index < frames.count {
      let (period, times) = Self.repetition(at: index, in: prints)
      lines += frames[index..<index + period].map(Line.frame)
      if times > 0 { lines.append(.again(period: period, times: times)) }
      index += period * (times + 1)
    }
  }

  /// What is printed of a frame.
  private struct Print: Equatable {
    var name: String
    var place: String?
    var image: String?
    var isInlined: Bool

    init(_ frame: ReportFrame) {
      (name, place, image) = (frame.name, frame.place, frame.image)
      isInlined = frame.isInlined
    }
  }

  /// The shortest sequence of frames from an index on that is repeated, and how often it is; one frame
  /// that is not where there is none.
  private static func repetition(at index: Int, in prints: [Print]) -> (period: Int, times: Int) {
    for period in 1...longestPeriod {
      var end = index + period
      while end < prints.count, prints[end] == prints[end - period] { end += 1 }
      let times = (end - index) / period - 1
      if times >= fewestRepetitions { return (period, times) }
    }
    return (1, 0)
  }

  /// What stands for frames that come again.
  package static func text(period: Int, times: Int) -> String {
    let frames = period == 1 ? "the same frame" : "the same \(period) frames"
    return "… \(frames) \(times.grouped) more times"
  }
}
