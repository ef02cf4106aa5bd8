import TraceReader

/// Functions without names that allocate what others ask for: those of runtimes that are linked into a stripped
/// program (`swift_allocObject`, `operator new`).
///
/// Types give them away. Where a program makes an object for itself, it makes one of a certain class: a place
/// through which objects of several classes come is in a function that is asked for them.
struct UnnamedAllocators {
  private var locations: Set<Int> = []

  /// The compiler may merge what makes objects of a few.
  private static let leastClasses = 4
  /// Such functions call one another.
  private static let deepest = 6

  /// - Parameters:
  ///   - types: The types that blocks of some stacks were seen to have.
  ///   - locations: The locations of a stack, the innermost first.
  ///   - isUnnamed: Whether of what is at a location nothing is known but that it is in the program.
  init<Locations: Sequence<Int>>(
    _ types: TypeTable, locations: (StackID) -> Locations, isUnnamed: (Int) -> Bool
  ) {
    for _ in 0..<Self.deepest {
      var classes: [Int: Set<Substring>] = [:]
      for sighting in types.settledSightings {
        guard let type = types[sighting.type],
          let location = locations(sighting.stack).first(where: { !contains($0) }),
          isUnnamed(location)
        else { continue }
        classes[location, default: []].insert(type.name.prefix { $0 != "<" })
      }
      let found = classes.filter { $0.value.count >= Self.leastClasses }.keys
      if found.isEmpty { return }
      self.locations.formUnion(found)
    }
  }

  /// Whether a location is in one of them.
  func contains(_ location: Int) -> Bool { locations.contains(location) }
}
