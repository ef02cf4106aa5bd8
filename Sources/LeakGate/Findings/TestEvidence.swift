/// Which tests a finding comes from, as far as marks and stacks tell.
///
/// The names are those of the marks `test began: NAME`; for Swift they are what `swift test --filter`
/// takes.
public struct TestEvidence: Sendable, Hashable, Encodable {
  /// Tests whose own function is on the stack.
  public var onStack: [String] = []
  /// Tests that were the only ones running when a block was allocated, or a call was made.
  public var alone: [String] = []
  /// Tests that ran at the same time, one of which it is; those that ran most of the time first.
  public var candidates: [String] = []

  /// How many tests are kept of each kind: longer lists help nobody.
  static let limit = 16

  /// Makes an empty one.
  public init() {}

  /// Whether nothing is known.
  public var isEmpty: Bool { onStack.isEmpty && alone.isEmpty && candidates.isEmpty }

  /// Adds what is known of more blocks.
  mutating func add(_ other: TestEvidence) {
    Self.add(other.onStack, to: &onStack)
    Self.add(other.alone, to: &alone)
    Self.add(other.candidates, to: &candidates)
  }

  private static func add(_ names: [String], to list: inout [String]) {
    for name in names where list.count < limit && !list.contains(name) { list.append(name) }
  }

  /// `in the test A`, `while the test A ran`, `while one of the tests A, B ran`.
  ///
  /// Only the best evidence is told: what is on the stack, else who ran alone, else who ran.
  public var text: String {
    if !onStack.isEmpty { return "in the \(Self.list(onStack))" }
    if !alone.isEmpty { return "while the \(Self.list(alone)) ran" }
    return "while the \(Self.list(candidates)) ran at the same time"
  }

  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(3).joined(separator: ", ")
    let more = names.count > 3 ? " and \(names.count - 3) more" : ""
    return "test\(names.count == 1 ? "" : "s") \(shown)\(more)"
  }
}
