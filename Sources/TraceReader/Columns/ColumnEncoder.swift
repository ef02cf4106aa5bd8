import CTraceFormat

/// Writes the events of one chunk as columns.
struct ColumnEncoder: ~Copyable {
  private var columns: [[UInt8]] = Array(repeating: [], count: Column.allCases.count)
  private var model: ColumnModel
  private let table = OperationTable()
  private var time: UInt64
  private var thread: UInt32
  /// The order of the live blocks of the chunk, by address.
  private var orders: [UInt64: Int] = [:]

  private static let sizedControls =
    UInt64(1) << UInt64(MT_OP_REALLOC_END.rawValue)
    | UInt64(1) << UInt64(MT_OP_REALLOC_FAIL.rawValue)
    | UInt64(1) << UInt64(MT_OP_REALLOC_LEFT.rawValue) | UInt64(1) << UInt64(MT_OP_FAILED.rawValue)

  /// - Parameters:
  ///   - baseTime: That of the chunk.
  ///   - thread: That of the chunk.
  ///   - count: The number of events, thread changes included.
  init(baseTime: UInt64, thread: UInt32, count: Int) {
    model = ColumnModel(events: count)
    time = baseTime
    self.thread = thread
    orders.reserveCapacity(count / 2)
  }

  deinit {
    model.deallocate()
  }

  /// The content of the chunk, and where its columns begin in it.
  var content: (bytes: [UInt8], cuts: [Int]) { ColumnLayout.content(of: columns) }

  /// How many entries the events of a chunk take: one more for each change of thread.
  static func count(of events: [Event], thread: UInt32) -> Int {
    var (count, thread) = (events.count, thread)
    for event in events where event.thread.rawValue != thread {
      count += 1
      thread = event.thread.rawValue
    }
    return count
  }

  mutating func append(_ event: Event) {
    if event.thread.rawValue != thread {
      thread = event.thread.rawValue
      columns[.operations].append(UInt8(truncatingIfNeeded: MT_OP_THREAD.rawValue))
      columns[.rest].appendVarInt(UInt64(thread))
    }
    let (operation, address) = (event.operation.rawValue, event.address.rawValue)
    columns[.operations].append(operation)
    columns[.times].appendVarInt(event.time.rawValue &- time)
    time = event.time.rawValue
    let bit = UInt64(1) << UInt64(operation & 63)
    let isReallocBegin = event.operation == .reallocBegin
    let isReallocEnd = event.operation == .reallocEnd
    let isFailed = event.operation == .failed
    let endsBlock = bit & table.deallocations != 0 || isReallocBegin
    if bit & table.allocations != 0 || endsBlock || isFailed { append(stack: event.stack.rawValue) }
    if bit & (table.allocations | table.sized | Self.sizedControls) != 0 {
      append(size: event.size)
    }
    if bit & table.allocations != 0 || isReallocEnd { begin(address, size: event.size) }
    if endsBlock { end(address) }
    if bit & table.aligned != 0 { columns[.rest].appendVarInt(event.alignment) }
    if isFailed { columns[.rest].appendVarInt(UInt64(event.function.rawValue)) }
  }

  private mutating func append(stack: UInt32) {
    if model.stackAfterTwo == stack {
      columns[.stackCodes].append(StackCode.afterTwo)
    } else if model.stackAfterOne == stack {
      columns[.stackCodes].append(StackCode.afterOne)
    } else {
      columns[.stackCodes].append(StackCode.explicit)
      columns[.stacks].appendZigzag(UInt64(stack) &- UInt64(model.stack))
    }
    model.follow(stack)
  }

  private mutating func append(size: UInt64) {
    columns[.sizes].appendVarInt(model.expectedSize == size ? 0 : size &+ 1)
    model.note(size: size)
  }

  private mutating func begin(_ address: UInt64, size: UInt64) {
    if let rank = model.rank(of: address, size: size) {
      columns[.placeCodes].append(PlaceCode.firstRank + UInt8(truncatingIfNeeded: rank))
      _ = model.takeFreed(size: size, rank: rank)
    } else if address == model.expectedAddress {
      columns[.placeCodes].append(PlaceCode.behind)
    } else {
      columns[.placeCodes].append(PlaceCode.explicit)
      columns[.places].appendDistance(address &- model.expectedAddress)
    }
    orders[address] = model.count
    model.begin(address, size: size)
  }

  private mutating func end(_ address: UInt64) {
    guard let order = orders.removeValue(forKey: address) else {
      columns[.endCodes].append(EndCode.byAddress)
      columns[.ends].appendDistance(address &- model.farAddress)
      model.farAddress = address
      return
    }
    let age = model.count - 1 - order
    let distance = order - model.endedLast
    if age < EndCode.ages {
      columns[.endCodes].append(EndCode.firstAge + UInt8(truncatingIfNeeded: age))
    } else if distance >= -EndCode.nearReach && distance < EndCode.nearReach {
      let code = distance + EndCode.nearReach
      columns[.endCodes].append(EndCode.firstNear + UInt8(truncatingIfNeeded: code))
    } else {
      columns[.endCodes].append(EndCode.byOrder)
      columns[.ends].appendZigzag(UInt64(bitPattern: Int64(distance)))
    }
    model.end(order)
  }
}

extension [[UInt8]] {
  fileprivate subscript(column: Column) -> [UInt8] {
    get { self[column.rawValue] }
    _modify { yield &self[column.rawValue] }
  }
}

extension [UInt8] {
  /// Appends a distance of addresses: in units of 16 where it is one.
  ///
  /// A distance of 2^62 and more loses its top bit, which the recoder notices.
  fileprivate mutating func appendDistance(_ distance: UInt64) {
    let value = Int64(bitPattern: distance)
    let isWhole = value & 15 == 0
    let scaled = UInt64(bitPattern: isWhole ? value >> 4 : value)
    appendVarInt(VarInt.zigzag(scaled) << 1 | (isWhole ? 0 : 1))
  }
}
