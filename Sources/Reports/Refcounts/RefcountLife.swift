import Symbolication
import TraceReader

/// The strong count of one object from its allocation to its end.
struct RefcountLife {
  /// One change, in the order of time.
  struct Step {
    /// What is told to the ledger.
    var change: RefcountLedger.Change
    /// Strong references after it; nil after it was freed, when nothing is known.
    var count: Int64?
    /// The event; nil for the allocation and for what no event tells of.
    var event: RefcountEvent?
  }

  private(set) var steps: [Step] = []
  /// Which change goes with which.
  private(set) var ledger: RefcountLedger

  /// Follows an object.
  ///
  /// - Parameters:
  ///   - allocation: The stack that allocated it; nil where that is not known.
  ///   - events: Its reference count events in order.
  ///   - freed: When its block was freed; nil while it lives.
  ///   - names: Names the stacks.
  init(
    allocation: StackID?, events: [RefcountEvent], freed: EventTime? = nil, names: StackNames
  ) {
    var steps: [Step] = []
    var reader = StackReader(names: names)
    if let allocation {
      var change = reader.change(by: allocation, 1)
      change.functions = StackReader.withoutInitializers(change.functions)
      // It was made to be kept.
      change.line = nil
      steps.append(Step(change: change, count: 1, event: nil))
    } else if let first = events.first {
      // What was there before the first event came from somewhere.
      let change = RefcountLedger.Change(amount: Int64(clamping: first.count))
      steps.append(Step(change: change, count: change.amount, event: nil))
    }
    var counter = Counter(start: steps.last?.count ?? 0)
    for (position, event) in events.enumerated() where event.call != .tryRetainFailed {
      let isDead = event.isOfNoObject || freed.map { event.time > $0 } ?? false
      if !isDead, let found = counter.implied(at: position, in: events) {
        let change = RefcountLedger.Change(amount: found, isImplied: true)
        steps.append(Step(change: change, count: Int64(clamping: event.count), event: nil))
      }
      counter.add(event)
      let count = isDead ? nil : Int64(clamping: event.count) &+ event.change
      steps.append(
        Step(change: reader.change(by: event.stack, event.change), count: count, event: event))
    }
    self.steps = steps
    ledger = RefcountLedger(steps.map(\.change), isFreed: freed != nil)
  }
}

/// Compares what an object said of its count with what the events before add up to.
private struct Counter {
  private var sum: Int64
  private var unrecorded: Int64 = 0

  init(start: Int64) {
    sum = start
  }

  mutating func add(_ event: RefcountEvent) {
    sum = sum &+ event.change
  }

  /// What has changed the count without an event since the event before; nil when nothing has.
  ///
  /// Threads that change a count at the same moment may see each other's change or not. That evens
  /// out with the next event; what is unrecorded stays.
  mutating func implied(at position: Int, in events: [RefcountEvent]) -> Int64? {
    let found = Self.difference(events[position], sum)
    let passed = found &- unrecorded
    guard passed != 0 else { return nil }
    if position > 0, events[position - 1].thread != events[position].thread,
      position + 1 < events.count
    {
      let next = Self.difference(events[position + 1], sum &+ events[position].change)
      guard next == found else { return nil }
    }
    unrecorded = found
    return passed
  }

  private static func difference(_ event: RefcountEvent, _ sum: Int64) -> Int64 {
    Int64(clamping: event.count) &- sum
  }
}

/// Reads out of stacks what the ledger wants to know.
private struct StackReader {
  let names: StackNames
  private var known: [StackID: RefcountLedger.Change] = [:]

  init(names: StackNames) {
    self.names = names
  }

  mutating func change(by stack: StackID, _ amount: Int64) -> RefcountLedger.Change {
    if var change = known[stack] {
      change.amount = amount
      return change
    }
    let frames = names.frames(of: stack)
    let leading = frames.prefix { $0.role != .user }
    let user = frames.filter { $0.role == .user }
    let change = RefcountLedger.Change(
      amount: amount, functions: user.map(\.name), line: user.first?.line,
      isManual: leading.contains { Self.isManual($0) }
        || (frames.first.map { Self.isManual($0) || amount > 0 && isRetainByName($0) } ?? false),
      isByOwnersEnd: frames.prefix(leading.count + 1).contains { Self.isOwnersEnd($0) })
    known[stack] = change
    return change
  }

  /// A new object belongs to the function that asked for it, not to its initializer.
  static func withoutInitializers(_ functions: [String]) -> [String] {
    let rest = functions.drop { $0.contains(".init(") || $0.contains("__allocating_init") }
    return rest.isEmpty ? functions : Array(rest)
  }

  private static func isManual(_ frame: ReportFrame) -> Bool {
    frame.name.hasPrefix("Unmanaged.") || frame.name.hasPrefix("Swift.Unmanaged.")
  }

  /// Whether a function of the program retains by name where a frame of it is, as far as the source is at hand.
  private func isRetainByName(_ frame: ReportFrame) -> Bool {
    frame.role == .user && names.sourceLine(of: frame).map(UnmanagedCalls.retains) == true
  }

  private static func isOwnersEnd(_ frame: ReportFrame) -> Bool {
    frame.name == "swift_arrayDestroy" || frame.name.contains("deinit")
      || frame.name.hasPrefix("_swift_release_dealloc")
  }
}
