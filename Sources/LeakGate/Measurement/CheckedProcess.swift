import Reports
import TraceReader

/// A process of a run: what was measured in it, and what could not be.
public struct CheckedProcess: Sendable, Hashable, Encodable {
  /// What a rule may put a limit on.
  public struct Measures: Sendable, Hashable, Encodable {
    /// Blocks that nothing can reach, and their bytes; nil when there was no snapshot to tell.
    public var leaked: BlockSum?
    /// How many cycles are among them.
    public var cycles: UInt64?
    /// Misuses of the allocator.
    public var memoryErrors: UInt64 = 0
    /// Blocks that were not freed at the end, and their bytes.
    public var unfreed = BlockSum()
    /// The most bytes that were live at one time.
    public var peakBytes: UInt64 = 0
    /// How many blocks were allocated.
    public var allocations: UInt64 = 0
    /// Mapped memory that is there at the end and can be touched; nil where it was not recorded.
    public var mapped: BlockSum?
    /// The most bytes of it at one time.
    public var mappedPeakBytes: UInt64?
  }

  /// The name of its program.
  public var name: String
  /// The path of the program.
  public var executable: String
  /// The command line.
  public var command: String
  /// The process ID.
  public var pid: UInt32
  /// The trace; nil when it is not kept.
  public var trace: String?
  /// How it ended.
  public var ending: EndingSummary
  /// Whether the rules apply to it.
  public var isChosen: Bool
  /// What was measured; nil for a process that the rules do not apply to.
  public var measures: Measures?
  /// Why something that the rules ask for could not be measured; one sentence each.
  public var problems: [String] = []
  /// What else should be known about the figures; one sentence each.
  public var warnings: [String] = []
  /// Why leaks were rightly not looked for, such as an exec, or why the rules do not apply; nil when
  /// they were, or should have been, and when `--process` left it out.
  public var note: String?

  /// The name of its program in a sentence: that of a process that was killed at its start is not known.
  var program: String { name.isEmpty ? "an unknown program" : name }

  /// `test-runner (pid 4711)`.
  public var title: String { "\(program) (pid \(pid))" }

  /// What was done with it, in a few words: `3 leaks, 0 errors`.
  public var summary: String {
    guard let measures else { return "not chosen" + (note.map { ": \($0)" } ?? "") }
    if !problems.isEmpty { return "not measured" }
    var parts: [String] = []
    if let leaked = measures.leaked {
      parts.append(CountText.plain(leaked.count, "leaked block"))
    } else if let note {
      parts.append(note)
    }
    parts.append(CountText.plain(measures.memoryErrors, "memory error"))
    return parts.joined(separator: ", ")
  }
}
