/// What `.memtrace.yml` says; every part may be absent.
public struct GateConfiguration: Sendable, Hashable {
  /// The name that is looked for in the working directory.
  public static let defaultName = ".memtrace.yml"

  /// Limits, in order.
  public var rules: [GateRule] = []
  /// Whether no leak, no cycle and no memory error is demanded of what the rules do not speak of.
  public var usesDefaultRules = true
  /// Patterns for the programs that the rules apply to; empty for all.
  public var processes: [String] = []
  /// The baseline; nil for none.
  public var baseline: String?
  /// Files with suppressions in the form of LeakSanitizer or Valgrind.
  public var suppressions: [String] = []
  /// Whether entries that match nothing fail the gate.
  public var failsOnStale = false
  /// Whether processes that could not be measured fail the run.
  public var failsOnUnmeasured = true
  /// Whether processes that were killed count as not measured.
  public var failsOnKilled = true

  /// Makes an empty configuration.
  public init() {}
}
