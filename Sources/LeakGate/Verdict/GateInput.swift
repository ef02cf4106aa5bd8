/// All that a verdict is made of.
public struct GateInput: Sendable {
  /// The processes of the run.
  public var processes: [CheckedProcess] = []
  /// What was found in them.
  public var findings: [Finding] = []
  /// The limits.
  public var rules = GateRule.defaults
  /// What is tolerated; nil when no baseline was given.
  public var baseline: Baseline?
  /// The file of the baseline, for reports that show what is wrong with it there.
  public var baselineName = "the baseline"
  /// What is hidden.
  public var suppressions = SuppressionSet()
  /// What programs hide themselves.
  public var programSuppressions = ProgramSuppressions()
  /// Which day it is, for entries that expire.
  public var today: CalendarDay
  /// The name of the command; nil when traces were checked.
  public var commandName: String?
  /// The command's own exit status; nil when traces were checked.
  public var hostStatus: Int32?
  /// Why nothing or not all was recorded, known before any trace was read.
  public var problems: [String] = []
  /// What else should be known of what was given to check; one sentence each.
  public var warnings: [String] = []
  /// The version of the tool, for documents that name it.
  public var toolVersion = ""
  /// Whether entries of the baseline that match nothing fail the gate.
  public var failsOnStale = false
  /// Whether what could not be measured fails the run.
  public var failsOnUnmeasured = true

  /// Whether nothing can have been missed.
  ///
  /// The command did not fail, and the end of each process was seen. Else what was not found may be
  /// there all the same. A process that the rules do not apply to may know of another that they do
  /// apply to, and that was not recorded.
  public var isWhole: Bool {
    let chosen = processes.filter(\.isChosen)
    return (hostStatus ?? 0) == 0 && problems.isEmpty && !chosen.isEmpty
      && processes.allSatisfy(\.problems.isEmpty)
      && chosen.allSatisfy { $0.measures?.leaked != nil }
  }

  /// Makes an input without anything found.
  public init(today: CalendarDay) {
    self.today = today
  }
}
