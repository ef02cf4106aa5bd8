/// A row of block characters that shows how a value went over time.
struct Sparkline {
  private static let levels: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// The characters, one per column; blank where the value is zero.
  let text: String
  /// The column of the greatest value; nil when all values are zero.
  let peakColumn: Int?

  /// Draws `values` in `width` columns; each column shows the greatest value of its part.
  init(_ values: [UInt64], width: Int) {
    let columns = Self.columns(values, width: width)
    guard let greatest = columns.max(), greatest > 0 else {
      text = String(repeating: " ", count: columns.count)
      peakColumn = nil
      return
    }
    peakColumn = columns.firstIndex(of: greatest)
    text = String(
      columns.map { value in
        if value == 0 { return " " }
        let level = Int(Double(value) / Double(greatest) * Double(Self.levels.count - 1))
        return Self.levels[min(level, Self.levels.count - 1)]
      })
  }

  private static func columns(_ values: [UInt64], width: Int) -> [UInt64] {
    guard values.count > width, width > 0 else { return values }
    return (0..<width).map { column in
      let first = column * values.count / width
      let end = max(first + 1, (column + 1) * values.count / width)
      return values[first..<end].max() ?? 0
    }
  }
}
