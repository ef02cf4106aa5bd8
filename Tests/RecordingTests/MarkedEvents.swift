import TraceReader

/// The events of a trace that a test program made on purpose, known by their sizes.
struct MarkedEvents {
  /// What happened to one size.
  struct Figures: Equatable, CustomStringConvertible {
    var allocated = 0
    var freed = 0

    var description: String { "\(allocated) allocated, \(freed) freed" }
  }

  /// An allocation and the deallocation that ended it.
  struct Life {
    var allocation: Event
    var deallocation: Event?
  }

  /// The lives of the blocks whose size was asked for, in order of allocation.
  private(set) var lives: [UInt64: [Life]] = [:]
  /// Failed allocations by size.
  private(set) var failures: [UInt64: [Event]] = [:]
  /// Events in which a block was allocated at an address that another block still had.
  private(set) var doubleOwners = 0
  /// Frees of addresses that no block had.
  private(set) var unknownFrees = 0
  private(set) var count = 0

  /// Reads all events of a trace.
  ///
  /// A replay of its own, deliberately simple: the oracle for the real one.
  init(_ trace: Trace) throws {
    var live: [Address: (size: UInt64, index: Int)] = [:]
    var moving: [ThreadIndex: (address: Address, event: Event, block: (UInt64, Int)?)] = [:]
    var state = MarkedEvents()
    try trace.forEachEvent { _, event in
      state.count += 1
      switch event.operation {
      case .failed:
        state.failures[event.size, default: []].append(event)
      case .reallocBegin:
        let block = live.removeValue(forKey: event.address)
        moving[event.thread] = (event.address, event, block)
      case .reallocFail:
        if let old = moving.removeValue(forKey: event.thread), let block = old.block {
          live[old.address] = block
        }
      case .reallocLeft:
        if let old = moving.removeValue(forKey: event.thread), let (size, index) = old.block {
          state.lives[size]?[index].deallocation = old.event
        }
      case .reallocEnd:
        if let old = moving.removeValue(forKey: event.thread), let (size, index) = old.block {
          state.lives[size]?[index].deallocation = old.event
        }
        var allocation = event
        allocation.operation = .realloc
        state.begin(allocation, &live)
      case _ where event.kind == .allocation:
        state.begin(event, &live)
      case _ where event.kind == .deallocation:
        if let (size, index) = live.removeValue(forKey: event.address) {
          state.lives[size]?[index].deallocation = event
        } else {
          state.unknownFrees += 1
        }
      default:
        break
      }
      return true
    }
    self = state
  }

  private init() {}

  private mutating func begin(
    _ event: Event, _ live: inout [Address: (size: UInt64, index: Int)]
  ) {
    let index = lives[event.size, default: []].count
    lives[event.size, default: []].append(Life(allocation: event, deallocation: nil))
    if live.updateValue((event.size, index), forKey: event.address) != nil { doubleOwners += 1 }
  }

  /// How often blocks of a size were allocated and freed.
  subscript(size: UInt64) -> Figures {
    let blocks = lives[size] ?? []
    return Figures(
      allocated: blocks.count, freed: blocks.count { $0.deallocation != nil })
  }

  /// The functions that the blocks of a size were allocated and freed with.
  func functions(_ size: UInt64) -> [[String]] {
    (lives[size] ?? []).map { life in
      [life.allocation.operation.name] + (life.deallocation.map { [$0.operation.name] } ?? [])
    }
  }
}
