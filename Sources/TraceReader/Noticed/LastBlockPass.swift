/// Finds the blocks that lay at some addresses last before some times.
struct LastBlockPass: EventSink {
  /// Which block is meant.
  struct Question {
    /// What is known of it.
    enum State {
      /// It was freed.
      case freed
      /// It has this size, and was live.
      case live(size: UInt64)
      /// It was the last one to be allocated, freed or not.
      case last
      /// This freed it: others may have been allocated and freed there in the same moment.
      case ended(by: MemoryError.EventSite)
      /// It has this size; its free may have come before, or not have been recorded.
      case freedOrLive(size: UInt64)
    }

    var address: UInt64
    var time: UInt64
    var state: State
  }

  /// A block; its allocation is not known when it was before a fork, and it has no end while it is
  /// live.
  struct Life {
    var block: MemoryError.BlockSummary?
    var end: MemoryError.EventSite?
  }

  /// For each question, its block; nil when the trace does not have it.
  private(set) var lives: [Life?]

  private let questions: [Question]
  /// Where the questions are in the order of their times.
  private let order: [Int]
  private var next = 0
  private let table = OperationTable()
  private var addresses = PageFilter()
  private let followed: Set<UInt64>
  /// The questions that an end answers, by its address.
  private var awaitedEnds: [UInt64: [Int]] = [:]
  private var allocated: [UInt64: MemoryError.BlockSummary] = [:]
  private var ended: [UInt64: Life] = [:]
  /// For each slot in the middle of a `realloc`, its stack and the life that it ends.
  private var pending: [UInt32: (stack: UInt32, address: UInt64, before: Life?)] = [:]

  init(_ questions: [Question]) {
    self.questions = questions
    order = questions.indices.sorted { (questions[$0].time, $0) < (questions[$1].time, $1) }
    lives = Array(repeating: nil, count: questions.count)
    followed = Set(questions.map(\.address))
    followed.forEach { addresses.insert($0) }
    for (position, question) in questions.enumerated() {
      if case .ended = question.state {
        awaitedEnds[question.address, default: []].append(position)
      }
    }
  }

  mutating func receive(_ run: EventRun) -> Bool {
    for position in 0..<run.count {
      look(at: run.events + position, run)
      guard next < order.count else { return false }
    }
    return true
  }

  /// Answers the questions that come after all events.
  mutating func finish() {
    settle(before: .max)
  }

  @inline(__always)
  private mutating func look(at event: UnsafePointer<RawEvent>, _ run: EventRun) {
    if event.pointee.time > questions[order[next]].time { settle(before: event.pointee.time) }
    let operation = Operation(rawValue: event.pointee.operation)
    // The second half of a realloc, and one that failed, follow a first half that was looked at.
    guard
      operation == .reallocEnd || operation == .reallocFail || operation == .reallocBegin
        || addresses.mayContain(event.pointee.address, size: 1)
    else { return }
    follow(event, run, operation)
  }

  @inline(never)
  private mutating func follow(
    _ pointer: UnsafePointer<RawEvent>, _ run: EventRun, _ operation: Operation
  ) {
    let event = pointer.pointee
    let bit = OperationTable.bit(event.operation)
    if operation == .reallocBegin {
      pending[run.slot] = (event.stack, event.address, ended[event.address])
      end(event, run)
    } else if operation == .reallocEnd {
      begin(pointer, run, .realloc, pending.removeValue(forKey: run.slot)?.stack ?? 0)
    } else if operation == .reallocFail {
      if let half = pending.removeValue(forKey: run.slot) { restore(half.address, half.before) }
    } else if bit & table.allocations != 0 {
      begin(pointer, run, operation, event.stack)
    } else if bit & table.deallocations != 0 {
      end(event, run)
    }
  }

  private mutating func begin(
    _ pointer: UnsafePointer<RawEvent>, _ run: EventRun, _ operation: Operation, _ stack: UInt32
  ) {
    let event = pointer.pointee
    guard followed.contains(event.address) else { return }
    // What was freed before stays known: the time of an event is up to 20 µs early.
    allocated[event.address] = MemoryError.BlockSummary(
      address: Address(event.address), size: event.size, alignment: run.alignment(of: pointer),
      allocation: MemoryError.EventSite(
        operation: operation, stack: StackID(stack), thread: ThreadIndex(run.thread),
        time: EventTime(event.time)))
  }

  /// A second free of a block is another error, and does not end it once more.
  private mutating func end(_ event: RawEvent, _ run: EventRun) {
    guard followed.contains(event.address) else { return }
    let block = allocated.removeValue(forKey: event.address)
    guard block != nil || ended[event.address] == nil else { return }
    ended[event.address] = Life(
      block: block,
      end: MemoryError.EventSite(
        operation: Operation(rawValue: event.operation), stack: StackID(event.stack),
        thread: ThreadIndex(run.thread), time: EventTime(event.time)))
    for position in awaitedEnds[event.address] ?? [] {
      guard case .ended(let end) = questions[position].state else { continue }
      if end == ended[event.address]?.end { lives[position] = ended[event.address] }
    }
  }

  /// A `realloc` that failed has ended no block.
  private mutating func restore(_ address: UInt64, _ before: Life?) {
    guard let life = ended[address], life.end?.operation == .reallocBegin else { return }
    allocated[address] = life.block
    ended[address] = before
  }

  private mutating func settle(before time: UInt64) {
    while next < order.count, questions[order[next]].time < time {
      let position = order[next]
      if lives[position] == nil { lives[position] = answer(to: questions[position]) }
      next += 1
    }
  }

  private func answer(to question: Question) -> Life? {
    let freed = ended[question.address]
    let live = allocated[question.address].map { Life(block: $0) }
    switch question.state {
    case .freed, .ended: return freed
    case .last: return live ?? freed
    case .live(let size): return Self.likeliest([live, freed], size)
    case .freedOrLive(let size): return Self.likeliest([freed, live], size)
    }
  }

  /// The one of that size; else the first, since `pvalloc` gives more than it was asked for.
  private static func likeliest(_ lives: [Life?], _ size: UInt64) -> Life? {
    let known = lives.compactMap { $0 }
    return known.first { $0.block?.size == size } ?? known.first
  }
}
