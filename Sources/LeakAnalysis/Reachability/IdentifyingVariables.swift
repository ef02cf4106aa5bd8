/// The words of variables that lead to objects of Swift only to tell them from others: an `ObjectIdentifier`, alone or
/// in a structure.
struct IdentifyingVariables: Sendable {
  private var words: Set<UInt64> = []

  /// Knows of none.
  init() {}

  /// Asks of each word of a variable that leads to an object of a known type.
  ///
  /// - Parameters:
  ///   - scanner: Knows the types of objects.
  ///   - roots: All of them.
  ///   - isFollowed: Whether somebody may follow what stands at an address of a variable.
  /// - Complexity: O(*words* of variables).
  init(_ scanner: EdgeScanner, _ roots: [Root], isFollowed: (_ address: UInt64) -> Bool) {
    guard scanner.hasInstances else { return }
    let rootWords = RootWords(scanner.heap)
    for root in roots where root.category == .global {
      rootWords.forEach(of: root) { address, value in
        guard let target = scanner.target(of: value), scanner.isKnownObject(target.block),
          !isFollowed(address)
        else { return }
        words.insert(address)
      }
    }
  }

  var isEmpty: Bool { words.isEmpty }

  /// Whether the word at an address is one of them.
  func contains(_ address: UInt64) -> Bool { words.contains(address) }
}
