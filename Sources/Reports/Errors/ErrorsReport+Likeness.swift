import TraceReader

extension ErrorsReport {
  /// Errors whose stacks read the same as one, the first of them.
  ///
  /// A loop that the compiler unrolled frees at several addresses; see `StackNames.likeness(of:)`.
  static func joined(_ errors: [MemoryError], by names: StackNames) -> [MemoryError] {
    joined(errors, adding: \.count) {
      ErrorLikeness($0).replacingStacks(names.likeness)
    }
  }

  /// The same of allocations that failed.
  static func joined(_ failures: [FailedAllocation], by names: StackNames) -> [FailedAllocation] {
    joined(failures, adding: \.count) {
      FailureLikeness(
        function: $0.function, size: $0.size, stack: names.likeness(of: $0.stack))
    }
  }

  private struct FailureLikeness: Hashable {
    var function: Operation
    var size: UInt64
    var stack: StackID
  }

  private static func joined<Item, Likeness: Hashable>(
    _ items: [Item], adding count: WritableKeyPath<Item, UInt64>, of likeness: (Item) -> Likeness
  ) -> [Item] {
    var positions: [Likeness: Int] = [:]
    return items.reduce(into: []) { joined, item in
      let key = likeness(item)
      if let position = positions[key] {
        joined[position][keyPath: count] &+= item[keyPath: count]
      } else {
        positions[key] = joined.count
        joined.append(item)
      }
    }
  }
}
