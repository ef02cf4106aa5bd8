/// Something that is known of stacks, found by where they lie in their table.
///
/// A trace can hold a million stacks, and several parts of a report ask for each of them: hashing their
/// IDs would take longer than what is looked up. Takes 4 bytes for each node of the table as soon as one
/// stack has a value.
package struct StackMap<Value> {
  private let stacks: StackTable
  /// By the position of a stack: the place of its value plus 1; 0 without one.
  private var places: [UInt32] = []
  /// The values of stacks that are in the table, in the order in which they were set first.
  private var inTable: [Value] = []
  /// The values of IDs that are not, ``StackID/none`` among them.
  private var others: [StackID: Value] = [:]

  /// Creates an empty map.
  ///
  /// - Parameter stacks: The table that the stacks are in.
  package init(_ stacks: StackTable) {
    self.stacks = stacks
  }

  /// All values: those of stacks of the table in the order in which they were set first, then the others.
  package var values: [Value] {
    // Most have no others; a copy of a million values would be one too many.
    others.isEmpty ? inTable : inTable + others.values
  }

  /// What is known of a stack; nil as long as nothing was set.
  package subscript(stack: StackID) -> Value? {
    guard let position = stacks.position(of: stack) else { return others[stack] }
    guard position < places.count, places[position] > 0 else { return nil }
    return inTable[Int(places[position]) - 1]
  }

  /// What is known of a stack, to be changed where it lies.
  ///
  /// - Parameters:
  ///   - stack: The stack.
  ///   - initial: What is there as long as nothing was set.
  package subscript(stack: StackID, default initial: @autoclosure () -> Value) -> Value {
    get { self[stack] ?? initial() }
    _modify {
      if let position = stacks.position(of: stack) {
        yield &inTable[place(at: position, initial)]
      } else {
        yield &others[stack, default: initial()]
      }
    }
  }

  /// Sets what is known of a stack.
  package mutating func set(_ value: Value, of stack: StackID) {
    self[stack, default: value] = value
  }

  private mutating func place(at position: Int, _ initial: () -> Value) -> Int {
    if places.isEmpty { places = Array(repeating: 0, count: stacks.count) }
    if places[position] == 0 {
      inTable.append(initial())
      places[position] = UInt32(inTable.count)
    }
    return Int(places[position]) - 1
  }
}
