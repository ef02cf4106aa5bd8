import TraceReader

/// The events of the blocks at an address and the changes of their reference counts, in one order.
struct HistoryTimeline {
  /// A line of the history.
  enum Row {
    /// An event of a block: its position in the history.
    case block(Int)
    /// A change of an object's count. It may have no event of its own: then `event` is the one
    /// that showed it. The position of the object's allocation in the history tells its type: there
    /// may be another block where it was.
    case refcount(
      RefcountLife.Step, object: Address, event: RefcountEvent, isDead: Bool, allocation: Int?)
  }

  /// What the count was after a row, and what the row goes with.
  struct Balance: Sendable, Hashable {
    /// Strong references; nil when nothing is known.
    var count: Int64?
    /// The number of the row that it goes with.
    var partner: Int?
    /// Whether some of the references go with nothing.
    var isUnbalanced = false
  }

  private(set) var rows: [Row] = []
  /// For each row; nil where reference counts say nothing about it.
  private(set) var balances: [Balance?] = []

  private struct Key: Hashable {
    var life: Int
    var step: Int
  }

  private struct Item {
    /// The position of the last event of a block that is not behind this row.
    ///
    /// Events of blocks keep their order, which their times do not tell: many have the same.
    var anchor: Int
    /// The time of a change of a count; zero for the event of a block, first at its anchor.
    var time = EventTime(0)
    var row: Row
    var key: Key?
  }

  /// Merges the events.
  ///
  /// - Parameters:
  ///   - history: The events of the blocks, in order.
  ///   - stacks: The stack of each of them.
  ///   - refcounts: The events of the objects that begin where the blocks do, each in order.
  ///   - names: Names the stacks.
  init(
    _ history: [HistoryEntry], stacks: [StackID], refcounts: [Address: [RefcountEvent]],
    names: StackNames
  ) {
    var items: [Item] = []
    var lives: [RefcountLife] = []
    var allocations: [Int: Key] = [:]
    for (object, events) in refcounts.sorted(by: { $0.key < $1.key }) {
      for span in Self.spans(of: object, history, events) {
        let life = RefcountLife(
          allocation: span.allocation.map { stacks[$0] }, events: span.events, freed: span.freed,
          names: names)
        if let allocation = span.allocation {
          allocations[allocation] = Key(life: lives.count, step: 0)
        }
        items += Self.items(of: life, number: lives.count, span, object, history)
        lives.append(life)
      }
    }
    let blocks = history.indices.map { position in
      Item(anchor: position, row: .block(position), key: allocations[position])
    }
    fill(blocks + items, lives)
  }

  private mutating func fill(_ items: [Item], _ lives: [RefcountLife]) {
    // Sorting does not keep the order of equal elements by itself.
    let order = items.indices.sorted {
      (items[$0].anchor, items[$0].time, $0) < (items[$1].anchor, items[$1].time, $1)
    }
    var numbers: [Key: Int] = [:]
    for (number, position) in order.enumerated() {
      if let key = items[position].key { numbers[key] = number }
    }
    for position in order {
      rows.append(items[position].row)
      balances.append(
        items[position].key.map { key in
          let life = lives[key.life]
          let partner = life.ledger.partners[key.step].flatMap {
            numbers[Key(life: key.life, step: $0)]
          }
          return Balance(
            count: life.steps[key.step].count, partner: partner,
            isUnbalanced: life.ledger.unpaired[key.step] > 0)
        })
    }
  }

  private static func items(
    of life: RefcountLife, number: Int, _ span: Span, _ object: Address, _ history: [HistoryEntry]
  ) -> [Item] {
    var items: [Item] = []
    var next = 0
    for (step, content) in life.steps.enumerated() {
      // The first one is the allocation, which has an item, or what was there before.
      guard step > 0 || content.event != nil else { continue }
      while span.events[next].call == .tryRetainFailed { next += 1 }
      let event = span.events[next]
      let isDead = event.isOfNoObject || span.freed.map { event.time > $0 } ?? false
      items.append(
        Item(
          anchor: Self.anchor(of: event, span, history), time: event.time,
          row: .refcount(
            content, object: object, event: event, isDead: isDead, allocation: span.allocation),
          key: Key(life: number, step: step)))
      if content.event != nil { next += 1 }
    }
    return items
  }

  /// The position of the event of a block that a change of a count comes behind.
  ///
  /// That is the last one before it. Of those at the same time it is behind the allocation of its
  /// object, and before all others.
  private static func anchor(
    of event: RefcountEvent, _ span: Span, _ history: [HistoryEntry]
  ) -> Int {
    var low = 0
    var high = history.count
    while low < high {
      let middle = low + (high - low) / 2
      if history[middle].event.time < event.time { low = middle + 1 } else { high = middle }
    }
    guard let allocation = span.allocation, history[allocation].event.time <= event.time else {
      return low - 1
    }
    return max(low - 1, allocation)
  }

  // MARK: Lives

  /// The time between two allocations at one address.
  private struct Span {
    /// The position of the allocation in the history.
    var allocation: Int?
    var freed: EventTime?
    var events: [RefcountEvent] = []
  }

  private static func spans(
    of object: Address, _ history: [HistoryEntry], _ events: [RefcountEvent]
  ) -> [Span] {
    var spans: [Span] = []
    for (position, entry) in history.enumerated() where entry.block == object {
      if beginsLife(entry) {
        spans.append(Span(allocation: position))
      } else if !spans.isEmpty, !entry.isUnexpected {
        spans[spans.count - 1].freed = entry.event.time
      }
    }
    // An object that was never allocated lies in a variable or on a stack.
    guard !spans.isEmpty else { return events.isEmpty ? [] : [Span(events: events)] }
    var current = -1
    for event in events {
      while current + 1 < spans.count, let position = spans[current + 1].allocation,
        history[position].event.time <= event.time
      {
        current += 1
      }
      // Before the first block that covers the address another, shorter one began there.
      guard current >= 0 else { continue }
      // What finds no object is about the last one there was.
      let last = spans[...current].lastIndex { !$0.events.isEmpty }
      spans[event.isOfNoObject ? last ?? current : current].events.append(event)
    }
    return spans.filter { !$0.events.isEmpty }
  }

  private static func beginsLife(_ entry: HistoryEntry) -> Bool {
    entry.event.kind == .allocation || entry.event.operation == .reallocEnd
  }
}
