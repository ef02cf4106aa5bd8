import TraceReader
import TraceTestSupport

/// Makes events as a program might.
struct RandomProgram {
  /// How addresses are made.
  enum Allocator: CaseIterable {
    /// Reuses the last block freed of a size, as glibc does.
    case lastFreed
    /// Never uses an address again.
    case rising
    /// Any multiple of 16 below 64 KiB, so that threads seem to take each other's blocks.
    case colliding
    /// Anything at all, as another allocator or a damaged program might.
    case wild
  }

  let allocator: Allocator
  private var random: SeededGenerator
  private var time: UInt64 = 5000
  private var live: [(address: UInt64, size: UInt64)] = []
  private var freed: [UInt64: [UInt64]] = [:]
  private var top: UInt64 = 0x5555_0000_0000
  private var pending: (address: UInt64, stack: UInt32)?

  private static let operations: [Operation] = (1..<64).map { Operation(rawValue: $0) }
    .filter { $0.kind != .unknown }
  private static let allocations = operations.filter { $0.kind == .allocation }
  private static let deallocations = operations.filter { $0.kind == .deallocation }

  init(allocator: Allocator, seed: UInt64) {
    self.allocator = allocator
    random = SeededGenerator(seed: seed)
  }

  mutating func next() -> Event {
    time += UInt64.random(in: 0..<1 << UInt64.random(in: 0..<20, using: &random), using: &random)
    if let begun = pending {
      pending = nil
      return finishRealloc(begun)
    }
    switch UInt32.random(in: 0..<100, using: &random) {
    case 0: return failed()
    case 1..<10: return beginRealloc()
    case 10..<55 where !live.isEmpty: return free()
    default: return allocate()
    }
  }

  static func event(
    _ operation: Operation, time: UInt64, address: UInt64 = 0, size: UInt64 = 0,
    alignment: UInt64 = 0, stack: UInt32 = 0
  ) -> Event {
    let isSized = operation.kind == .allocation || operation.hasSize
    let hasAddress =
      operation.kind != .control || operation == .reallocBegin || operation == .reallocEnd
    var event = Event(
      operation: operation, time: EventTime(time), thread: ThreadIndex(1),
      address: Address(hasAddress ? address : 0), size: isSized ? size : 0,
      alignment: operation.hasAlignment ? alignment : 0,
      stack: [.reallocEnd, .reallocFail, .reallocLeft].contains(operation) ? .none : StackID(stack))
    if operation == .failed { event.function = .malloc }
    return event
  }

  /// A few sites, most of which do the same again and again.
  private mutating func site() -> UInt32 {
    let bits = UInt32.random(in: 0..<12, using: &random)
    return 2 + UInt32.random(in: 0...(1 << bits), using: &random)
  }

  private mutating func size(at stack: UInt32) -> UInt64 {
    switch UInt32.random(in: 0..<10, using: &random) {
    case 0: return random.next() >> UInt64.random(in: 0..<64, using: &random)
    case 1..<4: return UInt64(stack % 7) * 24 + 8
    default: return UInt64(stack) * 8
    }
  }

  private mutating func address(_ size: UInt64) -> UInt64 {
    switch allocator {
    case .lastFreed:
      if let address = freed[size & ~15]?.popLast() { return address }
      fallthrough
    case .rising:
      top += (size & 0xffff) / 16 * 16 + 32
      return top
    case .colliding: return UInt64.random(in: 1..<4096, using: &random) * 16
    case .wild: return random.next() >> UInt64.random(in: 8..<50, using: &random) | 1
    }
  }

  private mutating func allocate() -> Event {
    let stack = site()
    let index = Int.random(in: 0..<Self.allocations.count, using: &random)
    let operation = stack % 4 == 0 ? Self.allocations[index] : .malloc
    let size = size(at: stack)
    let address = address(size)
    live.append((address, size))
    return Self.event(
      operation, time: time, address: address, size: size,
      alignment: 1 << UInt64(stack % 8), stack: stack)
  }

  private mutating func take() -> (address: UInt64, size: UInt64) {
    let reach = min(live.count, 1 << Int.random(in: 0..<14, using: &random))
    let block = live.remove(
      at: live.count - 1 - Int.random(in: 0..<reach, using: &random))
    freed[block.size & ~15, default: []].append(block.address)
    return block
  }

  private mutating func free() -> Event {
    let stack = 5000 + site()
    let index = Int.random(in: 0..<Self.deallocations.count, using: &random)
    let operation = stack % 4 == 0 ? Self.deallocations[index] : .free
    let block = take()
    return Self.event(
      operation, time: time, address: block.address, size: block.size, alignment: 16, stack: stack)
  }

  private mutating func beginRealloc() -> Event {
    guard !live.isEmpty else { return allocate() }
    let block = take()
    let stack = 9000 + site()
    pending = (block.address, stack)
    return Self.event(.reallocBegin, time: time, address: block.address, stack: stack)
  }

  private mutating func finishRealloc(_ begun: (address: UInt64, stack: UInt32)) -> Event {
    let size = size(at: begun.stack)
    let outcomes: [Operation] = [.reallocFail, .reallocLeft]
    let outcome = UInt32.random(in: 0..<20, using: &random)
    let operation = outcome < 2 ? outcomes[Int(outcome)] : .reallocEnd
    let address = begun.stack % 2 == 0 ? begun.address : address(size)
    if operation == .reallocEnd { live.append((address, size)) }
    return Self.event(operation, time: time, address: address, size: size)
  }

  private mutating func failed() -> Event {
    Self.event(.failed, time: time, size: random.next(), stack: site())
  }
}
