import TraceReader

/// What a recording can look for in the heap while the program runs, where it is asked to.
public enum HeapCheck: Sendable, Hashable, CaseIterable {
  /// Uses of freed blocks.
  case zombies
  /// Writes past the ends of blocks.
  case redzones
  /// Reads and writes of what is no block, or no longer one.
  case guarded

  /// Those that a recording made.
  public static func made(in trace: Trace) -> Set<HeapCheck> {
    Set(
      trace.notes.compactMap { note in
        switch note.kind {
        case .zombies: .zombies
        case .redzones: .redzones
        case .guarded: .guarded
        default: nil
        }
      })
  }

  /// The options for what was not looked for yet, and what they find; nil when nothing is left.
  ///
  /// Guards come last: they are dear, and do not stand around all blocks.
  static func search(without made: Set<HeapCheck>) -> (options: String, purpose: String)? {
    let cheap = [zombies, redzones].filter { !made.contains($0) }
    let left = cheap.isEmpty && !made.contains(.guarded) ? [.guarded] : cheap
    guard !left.isEmpty else { return nil }
    return (
      left.map(\.option).joined(separator: " "), left.map(\.purpose).joined(separator: " or ")
    )
  }

  private var option: String {
    switch self {
    case .zombies: "--zombies"
    case .redzones: "--redzones"
    case .guarded: "--guard"
    }
  }

  private var purpose: String {
    switch self {
    case .zombies: "used a freed block"
    case .redzones: "wrote past the end of a block"
    case .guarded: "touched what lies beside a block, or a freed one"
    }
  }
}
