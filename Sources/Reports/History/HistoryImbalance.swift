import TraceReader

extension HistoryReport {
  /// Changes of a reference count by one stack that go with nothing.
  public struct Imbalance: Sendable, Hashable, Encodable {
    /// The position of the first of them among all events of the history.
    public var first: Int
    /// The position of the last of them.
    public var last: Int
    /// How many there are.
    public var count: Int
    /// The first of them.
    public var entry: Entry
  }
}

/// Puts changes together that go with nothing.
struct Imbalances {
  private struct Key: Hashable {
    var stack: StackID
    var isRelease: Bool
    var isImplied: Bool
  }

  private(set) var all: [HistoryReport.Imbalance] = []
  private var positions: [Key: Int] = [:]

  /// Adds a row of the history.
  ///
  /// - Parameters:
  ///   - number: Its position.
  ///   - row: What it is.
  ///   - stack: The stack of a block's event.
  ///   - entry: Makes its entry, where it is the first of its stack.
  mutating func add(
    _ number: Int, _ row: HistoryTimeline.Row, stack: (Int) -> StackID,
    entry: () -> HistoryReport.Entry
  ) {
    let key =
      switch row {
      case .block(let position):
        Key(stack: stack(position), isRelease: false, isImplied: false)
      case .refcount(let step, _, let event, _, _):
        Key(stack: event.stack, isRelease: step.change.amount < 0, isImplied: step.event == nil)
      }
    if let known = positions[key] {
      all[known].last = number
      all[known].count += 1
    } else {
      positions[key] = all.count
      all.append(.init(first: number, last: number, count: 1, entry: entry()))
    }
  }
}
