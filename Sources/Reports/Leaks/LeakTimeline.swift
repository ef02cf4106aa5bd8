/// The track of the Leaks instrument: leaked bytes by the time they were discovered, and a mark
/// for each snapshot that says whether it found new ones.
///
/// ```
/// Leaked bytes        ▃▃▃▃▃▃▃▃▃▃█████████  96 B
///               ✓     ✗         ✗        ✓
///               00:00.000.000 00:00.080.000
/// ```
struct LeakTimeline {
  static let foundNew: Character = "✗"
  static let foundNone: Character = "✓"

  /// The leaked bytes known in each column: those of the latest snapshot so far.
  let curve: String
  /// Below each snapshot's column whether it found new leaks; where several fall into one column,
  /// whether any did.
  let marks: [(column: Int, isNew: Bool)]

  /// Draws from the start of the recording to the last snapshot.
  ///
  /// - Parameters:
  ///   - discoveries: In the order of time, at least one.
  ///   - width: How many columns there are.
  init(_ discoveries: [LeakDiscovery], width: Int) {
    let width = max(1, width)
    let end = max(1, discoveries.last?.timeNanoseconds ?? 1)
    var known = Array(repeating: UInt64(0), count: width)
    var isNew: [Int: Bool] = [:]
    for discovery in discoveries {
      let column = Self.column(of: min(discovery.timeNanoseconds, end), in: end, width: width)
      for position in column..<width { known[position] = discovery.leaked.bytes }
      isNew[column] = isNew[column] == true || discovery.new.count > 0
    }
    curve = Sparkline(known, width: width).text
    marks = isNew.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private static func column(of time: UInt64, in end: UInt64, width: Int) -> Int {
    Int(Double(time) / Double(end) * Double(width - 1))
  }
}

extension LeakTimeline {
  /// Writes the track, its marks and its ends.
  static func write(_ discoveries: [LeakDiscovery], to page: inout TextPage) {
    guard let last = discoveries.last else { return }
    let greatest = discoveries.map(\.leaked.bytes).max() ?? 0
    let (title, amount) = ("  ", "  \(page.bytes(greatest))")
    let room = (page.style.width ?? 80) - title.count - amount.count
    let line = LeakTimeline(discoveries, width: min(72, max(8, room)))
    page.line(Span(title), Span(line.curve, .emphasis), Span(amount))
    var spans = [Span(title)]
    var column = 0
    for mark in line.marks {
      spans.append(Span(String(repeating: " ", count: mark.column - column)))
      spans.append(
        mark.isNew ? Span(String(foundNew), .error) : Span(String(foundNone), .plain))
      column = mark.column + 1
    }
    page.line(spans)
    let (start, end) = (TimeText.timestamp(0), TimeText.timestamp(last.timeNanoseconds))
    let gap = line.curve.count - start.count - end.count
    page.line(
      Span(
        title + (gap > 0 ? start + String(repeating: " ", count: gap) + end : "to \(end)"), .faint))
  }
}
