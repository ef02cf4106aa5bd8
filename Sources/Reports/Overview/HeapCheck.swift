import TraceReader

/// What a recording can look for in the heap while the program runs, where it is asked to.
public enum HeapCheck: Sendable, Hashable, CaseIterable {
  /// Uses of freed blocks.
  case zombies
  /// Writes past the ends of blocks.
  case redzones

  /// Those that a recording made.
  public static func made(in trace: Trace) -> Set<HeapCheck> {
    Set(
      trace.notes.compactMap { note in
        switch note.kind {
        case .zombies: .zombies
        case .redzones: .redzones
        default: nil
        }
      })
  }

  /// The options for what was not looked for yet, and what they find; nil when nothing is left.
  static func search(without made: Set<HeapCheck>) -> (options: String, purpose: String)? {
    let left = allCases.filter { !made.contains($0) }
    guard !left.isEmpty else { return nil }
    return (
      left.map(\.option).joined(separator: " "), left.map(\.purpose).joined(separator: " or ")
    )
  }

  private var option: String {
    switch self {
    case .zombies: "--zombies"
    case .redzones: "--redzones"
    }
  }

  private var purpose: String {
    switch self {
    case .zombies: "used a freed block"
    case .redzones: "wrote past the end of a block"
    }
  }
}
