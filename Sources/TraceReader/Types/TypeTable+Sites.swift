/// The types that the blocks of one stack and size have.
public struct TypeFinding: Hashable, Sendable {
  /// The types in order of their numbers: nearly always one.
  public var types: [TypeID]
  /// The stack that freed a block, when its type is known from that moment alone.
  public var freeStack: StackID
}

extension TypeTable {
  /// Concludes what blocks from a stack are, from those of them that were looked at.
  ///
  /// A base class never counts beside a class derived from it: it is what constructors and
  /// destructors leave in a block.
  ///
  /// - Parameters:
  ///   - stack: The backtrace of the allocation.
  ///   - sizeClass: The category by requested size.
  /// - Returns: nil when nothing is known about such blocks.
  public func finding(stack: StackID, sizeClass: SizeClass) -> TypeFinding? {
    let seen = sightings(of: stack)
    let ofThisSize = seen.filter { SizeClass(containing: $0.size) == sizeClass }
    if !ofThisSize.isEmpty { return finding(ofThisSize) }
    // An array's storage has many sizes, an object has one.
    let growing = seen.filter { sighting in
      self[sighting.type].map { $0.instanceSize > 0 && sighting.size > $0.instanceSize } ?? false
    }
    guard !growing.isEmpty, growing.count == seen.count else { return nil }
    let finding = finding(growing)
    return finding.types.count == 1 ? finding : nil
  }

  private func finding(_ sightings: [TypeSighting]) -> TypeFinding {
    let all = Set(sightings.map(\.type))
    let types = all.filter { type in !all.contains { isBase(type, of: $0) } }.sorted()
    let isFreedOnly = sightings.allSatisfy { $0.evidence == .freed }
    return TypeFinding(
      types: types, freeStack: isFreedOnly ? sightings[0].freeStack : .none)
  }
}
