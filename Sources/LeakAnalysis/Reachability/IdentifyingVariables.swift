/// The words of variables that lead to objects of Swift and do not hold them: only to tell them from others, an
/// `ObjectIdentifier`, alone or in a structure, `unowned` references in structures, and what was left in an `Any` or
/// `any P` behind its value.
struct IdentifyingVariables: Sendable {
  private var words: Set<UInt64> = []

  /// Knows of none.
  init() {}

  /// Asks of each word of a variable that leads to an object of a known type.
  ///
  /// - Parameters:
  ///   - scanner: Knows the types of objects.
  ///   - roots: All of them.
  ///   - variable: What the type of a variable tells of its word at an address.
  ///   - valueSize: How many bytes a value of Swift takes, by the address of its type's value witnesses.
  /// - Complexity: O(*words* of variables).
  init(
    _ scanner: EdgeScanner, _ roots: [Root], variable: (_ address: UInt64) -> VariableWord,
    valueSize: (UInt64) -> UInt64?
  ) {
    guard scanner.hasInstances else { return }
    let memory = scanner.heap.memory
    func holds(_ address: UInt64, _ target: Int) -> Bool {
      let word = variable(address)
      if word.isUnowned {
        // Until the last of them is gone, the object's memory stays.
        return SwiftObjects.isTakenDown(at: scanner.heap.blocks.address(of: target), memory)
      }
      guard word.mayPoint, let start = word.container else { return word.mayPoint }
      return !ObjectLayout.isBehindValue(address &- start, inContainerAt: start, memory) {
        ExistentialValues.size(ofMetadata: $0, memory, valueSize)
      }
    }
    let rootWords = RootWords(scanner.heap)
    for root in roots where root.category == .global {
      rootWords.forEach(of: root) { address, value in
        guard let target = scanner.target(of: value), scanner.isKnownObject(target.block),
          !holds(address, target.block)
        else { return }
        words.insert(address)
      }
    }
  }

  var isEmpty: Bool { words.isEmpty }

  /// Whether the word at an address is one of them.
  func contains(_ address: UInt64) -> Bool { words.contains(address) }
}
