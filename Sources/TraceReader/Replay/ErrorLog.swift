/// Errors, grouped by kind and stacks.
struct ErrorLog {
  private struct Key: Hashable {
    var category: MemoryError.Category
    var offset: UInt64
    var operation: Operation
    var allocationStack: StackID?
    var firstFreeStack: StackID?
    var offendingStack: StackID

    init(_ error: MemoryError) {
      category = error.kind.category
      if case .freeOfInterior(let distance) = error.kind { offset = distance } else { offset = 0 }
      operation = error.offending.operation
      allocationStack = error.block?.allocation.stack
      firstFreeStack = error.firstFree?.stack
      offendingStack = error.offending.stack
    }
  }

  private(set) var errors: [MemoryError] = []
  private(set) var counts: [MemoryError.Category: UInt64] = [:]
  private var positions: [Key: Int] = [:]
  private let limit: Int

  init(limit: Int) {
    self.limit = max(0, limit)
  }

  /// Takes errors out again, with all that are counted with them.
  ///
  /// - Parameter shouldRemove: Whether an error, the first of its group, is none after all.
  /// - Returns: How many those were.
  mutating func removeErrors(where shouldRemove: (MemoryError) -> Bool) -> UInt64 {
    var removed: UInt64 = 0
    errors.removeAll { error in
      guard shouldRemove(error) else { return false }
      removed &+= error.count
      counts[error.kind.category, default: error.count] -= error.count
      return true
    }
    positions = Dictionary(uniqueKeysWithValues: errors.enumerated().map { (Key($1), $0) })
    return removed
  }

  mutating func add(_ error: MemoryError) {
    counts[error.kind.category, default: 0] &+= 1
    let key = Key(error)
    if let position = positions[key] {
      errors[position].count &+= 1
    } else if errors.count < limit {
      positions[key] = errors.count
      errors.append(error)
    }
  }
}
