/// What errors have in common that are shown as one: their kind and their stacks.
package struct ErrorLikeness: Hashable {
  private var category: MemoryError.Category
  private var offset: UInt64
  private var operation: Operation
  private var allocationStack: StackID?
  private var firstFreeStack: StackID?
  private var offendingStack: StackID

  /// Looks at an error.
  package init(_ error: MemoryError) {
    category = error.kind.category
    if case .freeOfInterior(let distance) = error.kind { offset = distance } else { offset = 0 }
    operation = error.offending.operation
    allocationStack = error.block?.allocation.stack
    firstFreeStack = error.firstFree?.stack
    offendingStack = error.offending.stack
  }

  /// The same of the stacks that stand for these.
  ///
  /// - Parameter standsFor: The stack that stands for all that read the same.
  /// - Returns: What is equal of errors that read the same.
  package func replacingStacks(_ standsFor: (StackID) -> StackID) -> ErrorLikeness {
    var likeness = self
    likeness.allocationStack = allocationStack.map(standsFor)
    likeness.firstFreeStack = firstFreeStack.map(standsFor)
    likeness.offendingStack = standsFor(offendingStack)
    return likeness
  }
}

/// Errors, grouped by kind and stacks.
struct ErrorLog {
  private(set) var errors: [MemoryError] = []
  private(set) var counts: [MemoryError.Category: UInt64] = [:]
  private var positions: [ErrorLikeness: Int] = [:]
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
    positions = Dictionary(
      uniqueKeysWithValues: errors.enumerated().map { (ErrorLikeness($1), $0) })
    return removed
  }

  mutating func add(_ error: MemoryError) {
    counts[error.kind.category, default: 0] &+= 1
    let key = ErrorLikeness(error)
    if let position = positions[key] {
      errors[position].count &+= 1
    } else if errors.count < limit {
      positions[key] = errors.count
      errors.append(error)
    }
  }
}
