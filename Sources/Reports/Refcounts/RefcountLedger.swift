/// The changes of one object's strong count, each reference with its end.
///
/// Which release ends which reference no recording can know: references have no names. It is
/// concluded from where they happen, the surest conclusions first. What is left over was never
/// released, or released without having been retained.
struct RefcountLedger {
  /// What a change is, as far as its stack tells.
  struct Change: Hashable {
    /// References added, or taken away when below zero.
    var amount: Int64
    /// The functions of the program that led to it, the innermost first.
    var functions: [String] = []
    /// The line of the source in the innermost of them; nil where it is not known.
    var line: Int?
    /// Whether it was asked for by name, by `Unmanaged`, and not put in by the compiler.
    var isManual = false
    /// Whether an owner that goes gives up what it holds.
    var isByOwnersEnd = false
    /// Whether no event tells of it: the count was found changed.
    var isImplied = false
  }

  /// For each change, the one that it goes with, the first of them where there are several; nil
  /// where there is none.
  private(set) var partners: [Int?]
  /// How many references of each change go with nothing.
  private(set) var unpaired: [Int64]

  private let changes: [Change]

  /// - Parameters:
  ///   - changes: Those of one life in order, beginning with the allocation.
  ///   - isFreed: Whether the object is gone: what is still held then has ended in ways that have
  ///     no events.
  init(_ changes: [Change], isFreed: Bool) {
    self.changes = changes
    partners = Array(repeating: nil, count: changes.count)
    unpaired = changes.map { Int64(clamping: $0.amount.magnitude) }
    for rule in Rule.allCases { pair(by: rule) }
    pairRest()
    if isFreed {
      for position in changes.indices where changes[position].amount > 0 { unpaired[position] = 0 }
    }
  }

  /// The changes of which something goes with nothing, in order.
  var unbalanced: [Int] {
    unpaired.indices.filter { unpaired[$0] > 0 }
  }

  // MARK: Rules

  /// In the order in which they are applied, each to what those before have left.
  private enum Rule: CaseIterable {
    /// A reference that was found without a retain, a weak one that was loaded, ends next.
    case implied
    /// Retained and released by name.
    case manual
    /// A deinitializer that used a property, before it gives up what the property held.
    case sameDeinitializer
    /// The same line of the same function: it needed the object for a moment.
    case sameLine
    /// The same function, where it retained without being asked to by name: it ends that by itself.
    case sameFunctionUnasked
    /// The same function.
    case sameFunction
    /// A function that got the reference from one that it called.
    case returned
    /// What a container held ends with it, in the function that filled it.
    case localContainersEnd
    /// A type gives up, in a method or at its end, what another of its methods has put there.
    case sameType
    /// What an owner held ends with it, in the function that gave it that.
    case localOwnersEnd
    /// What an owner held ends with it.
    case ownersEnd
    /// A function that was called by the one with the reference.
    case handedOver
    /// Whatever the compiler has put in.
    case automatic
    /// Whatever is left.
    case any
  }

  private mutating func pair(by rule: Rule) {
    var open = OpenReferences(by: Self.key(of: rule))
    for position in changes.indices where unpaired[position] > 0 {
      let change = changes[position]
      if change.amount > 0 {
        if mayOpen(change, rule) { open.add(position, change) }
      } else if mayClose(change, rule) {
        close(position, rule, &open)
      }
    }
  }

  private static func key(of rule: Rule) -> OpenReferences.Key {
    switch rule {
    case .returned: .callers
    case .sameLine: .line
    case .sameType: .types
    default: .name
    }
  }

  private func mayOpen(_ change: Change, _ rule: Rule) -> Bool {
    switch rule {
    case .implied: change.isImplied
    case .manual: change.isManual
    // What was retained by name is no property of the owner, nor an element.
    case .sameLine, .localContainersEnd, .sameType, .localOwnersEnd, .ownersEnd,
      .sameFunctionUnasked:
      !change.isManual
    default: true
    }
  }

  private func mayClose(_ change: Change, _ rule: Rule) -> Bool {
    switch rule {
    case .manual: change.isManual
    case .localContainersEnd, .localOwnersEnd, .ownersEnd: change.isByOwnersEnd
    case .sameLine, .sameType: !change.isManual
    case .sameDeinitializer:
      !change.isManual && change.isByOwnersEnd && change.functions.first?.contains("deinit") == true
    case .any: true
    default: !change.isManual && (rule == .automatic || !change.isByOwnersEnd)
    }
  }

  private mutating func close(_ release: Int, _ rule: Rule, _ open: inout OpenReferences) {
    while unpaired[release] > 0, let position = candidate(for: release, rule, &open) {
      let count = min(unpaired[release], unpaired[position])
      unpaired[release] -= count
      unpaired[position] -= count
      if partners[release] == nil { partners[release] = position }
      if partners[position] == nil { partners[position] = release }
    }
  }

  /// Releases that are left go with references made later, whose own releases came before: that the
  /// order does not fit means that a pair was guessed wrongly, not that one is missing.
  private mutating func pairRest() {
    var acquired = changes.indices.filter { unpaired[$0] > 0 && changes[$0].amount > 0 }[...]
    for release in changes.indices where changes[release].amount < 0 {
      while unpaired[release] > 0, let position = acquired.first {
        let count = min(unpaired[release], unpaired[position])
        unpaired[release] -= count
        unpaired[position] -= count
        if unpaired[position] == 0 { acquired.removeFirst() }
      }
    }
  }

  /// An open reference that a release may end by a rule.
  private func candidate(
    for release: Int, _ rule: Rule, _ open: inout OpenReferences
  ) -> Int? {
    let functions = changes[release].functions
    let isOpen = { (position: Int) in unpaired[position] > 0 }
    switch rule {
    case .implied, .manual, .automatic, .any: return open.newest(isOpen)
    case .ownersEnd: return open.oldest(isOpen)
    case .localOwnersEnd:
      guard let ending = functions.first(where: { !$0.contains("deinit") }) else { return nil }
      return open.newest(of: ending, isOpen)
    case .localContainersEnd:
      // The container may have been given the object's own first reference.
      return functions.first.flatMap { open.oldest(of: $0, isOpen) }
    case .sameLine: return open.newest(onLineOf: changes[release], isOpen)
    case .sameType:
      return functions.first.flatMap { open.newest(ofTypeOf: $0, isOpen) }
    case .sameDeinitializer, .sameFunctionUnasked, .sameFunction:
      return functions.first.flatMap { open.newest(of: $0, isOpen) }
    case .returned: return functions.first.flatMap { open.nearest(calledBy: $0, isOpen) }
    case .handedOver:
      for function in functions.dropFirst() {
        if let position = open.newest(of: function, isOpen) { return position }
      }
      return nil
    }
  }
}

/// References that wait for their end, to be found by function.
private struct OpenReferences {
  /// What a reference is found by.
  enum Key {
    /// The function that made it.
    case name
    /// The function that made it, and the line in that.
    case line
    /// All functions that led to it.
    case callers
    /// The types that the function that made it belongs to.
    case types
  }

  /// A function or a type, and how many functions lie between it and who made a reference.
  private struct Place: Hashable {
    var name: String
    var distance: Int
  }

  private var all: [Int] = []
  private var firstOpen = 0
  private var places: [Place: ArraySlice<Int>] = [:]
  private var greatestDistance = 0
  private var types: [String: [String]] = [:]
  private let key: Key

  /// - Parameter key: What references are found by.
  init(by key: Key) {
    self.key = key
  }

  mutating func add(_ position: Int, _ change: RefcountLedger.Change) {
    all.append(position)
    for (distance, name) in names(of: change).enumerated() {
      let place = Place(name: name, distance: key == .callers ? distance : 0)
      places[place, default: []].append(position)
    }
    greatestDistance = max(greatestDistance, change.functions.count - 1)
  }

  private mutating func names(of change: RefcountLedger.Change) -> [String] {
    guard let function = change.functions.first else { return [] }
    switch key {
    case .name: return [function]
    case .line: return Self.line(of: change).map { [$0] } ?? []
    case .callers: return change.functions
    case .types: return types(of: function)
    }
  }

  private static func line(of change: RefcountLedger.Change) -> String? {
    guard let function = change.functions.first, let line = change.line else { return nil }
    return "\(function):\(line)"
  }

  private mutating func types(of function: String) -> [String] {
    if let known = types[function] { return known }
    let found = MethodOwner.types(of: function)
    types[function] = found
    return found
  }

  mutating func newest(_ isOpen: (Int) -> Bool) -> Int? {
    while let last = all.last, !isOpen(last) { all.removeLast() }
    return all.last
  }

  mutating func oldest(_ isOpen: (Int) -> Bool) -> Int? {
    while firstOpen < all.count, !isOpen(all[firstOpen]) { firstOpen += 1 }
    return firstOpen < all.count ? all[firstOpen] : nil
  }

  /// The newest reference that a function itself has made.
  mutating func newest(of function: String, _ isOpen: (Int) -> Bool) -> Int? {
    newest(at: Place(name: function, distance: 0), isOpen)
  }

  /// The newest reference that the same line of the same function has made.
  mutating func newest(
    onLineOf change: RefcountLedger.Change, _ isOpen: (Int) -> Bool
  ) -> Int? {
    Self.line(of: change).flatMap { newest(at: Place(name: $0, distance: 0), isOpen) }
  }

  /// The newest reference that functions of the type have made that a function belongs to.
  mutating func newest(ofTypeOf function: String, _ isOpen: (Int) -> Bool) -> Int? {
    types(of: function).first.flatMap { newest(at: Place(name: $0, distance: 0), isOpen) }
  }

  /// The oldest reference that a function itself has made.
  mutating func oldest(of function: String, _ isOpen: (Int) -> Bool) -> Int? {
    let place = Place(name: function, distance: 0)
    guard places[place] != nil else { return nil }
    while let first = places[place]?.first, !isOpen(first) { places[place]?.removeFirst() }
    return places[place]?.first
  }

  /// The reference that the fewest calls lie between a function and, of several the newest.
  mutating func nearest(calledBy function: String, _ isOpen: (Int) -> Bool) -> Int? {
    guard greatestDistance > 0 else { return nil }
    for distance in 1...greatestDistance {
      let place = Place(name: function, distance: distance)
      if let position = newest(at: place, isOpen) { return position }
    }
    return nil
  }

  private mutating func newest(at place: Place, _ isOpen: (Int) -> Bool) -> Int? {
    guard places[place] != nil else { return nil }
    while let last = places[place]?.last, !isOpen(last) { places[place]?.removeLast() }
    return places[place]?.last
  }
}
