import Reports

/// Something that the gate found: blocks or calls of one kind that came about in the same way.
public struct Finding: Sendable, Hashable, Encodable {
  /// What else belongs to a finding: who freed the block first, who allocated it.
  public struct RelatedStack: Sendable, Hashable, Encodable {
    /// In words: `allocated by malloc`.
    public var title: String
    /// The stack, leaf first.
    public var frames: [ReportFrame]
  }

  /// What became of a finding.
  public enum State: String, Sendable, Hashable, Encodable {
    /// Not known: the gate judges it.
    case new
    /// Known, but there is more of it than the baseline allows.
    case grown
    /// Known, but its entry in the baseline has expired.
    case expired
    /// Known, and within what the baseline allows.
    case baselined
    /// Hidden by a suppression.
    case suppressed
  }

  /// What it is.
  public var kind: FindingKind
  /// The type of the blocks, or `malloc in parse`; for misuses the call, such as `free in parse`.
  public var what: String
  /// How many blocks, or calls.
  public var count: UInt64
  /// Their requested bytes; 0 where no block is known.
  public var bytes: UInt64
  /// How many trees or cycles these blocks make; the count for other kinds.
  public var instances: UInt64
  /// Identifies the finding across runs and builds; see ``Fingerprint``.
  public var fingerprint: String
  /// The process, by the name of its program.
  public var process: String
  /// The process ID.
  public var pid: UInt32
  /// The trace it is in; nil when that is not kept.
  public var trace: String?
  /// The stack of the allocation, or of the wrong call; leaf first.
  public var frames: [ReportFrame]
  /// The frame that is named in one line, as the reports do; nil without a stack.
  public var responsible: ReportFrame?
  /// How many different stacks it came about by, of which ``frames`` is the first; nil when there is one.
  public var stackCount: Int?
  /// Other stacks that belong to it.
  public var related: [RelatedStack] = []
  /// The first tree in lines of text; empty for other kinds.
  public var tree: [String] = []
  /// The tests that it comes from; nil when no marks tell.
  public var tests: TestEvidence?
  /// What became of it.
  public var state = State.new
  /// What the baseline allows, or the suppression that hides it, in words; nil when it is new.
  public var reason: String?

  /// Whether it counts against rules that are kept all the same, or against none.
  public var isAllowed = false

  /// Replaces the names of functions by the whole ones.
  mutating func takeFullNames() {
    if let place = responsible, let full = place.fullName, what.hasSuffix(" in \(place.name)") {
      what = what.dropLast(place.name.count) + full
    }
    responsible?.takeFullName()
    for index in frames.indices { frames[index].takeFullName() }
    for index in related.indices {
      for frame in related[index].frames.indices { related[index].frames[frame].takeFullName() }
    }
  }

  /// Whether it counts against the rules.
  public var counts: Bool { state != .baselined && state != .suppressed }

  /// Whether the gate fails for it.
  public var fails: Bool { counts && !isAllowed }

  /// `2 blocks`, `1 call`.
  public var amount: String {
    CountText.plain(count, kind.isMemoryError ? "call" : "block")
  }

  /// In one line: `Memory leak: Node, 3 blocks, 48 B, allocated in makeList (list.c:12)`, with the
  /// test where it is known.
  public func sentence(_ style: ByteStyle = .human) -> String {
    sentence(style, processCount: 1)
  }

  /// The same of what several processes have.
  func sentence(_ style: ByteStyle, processCount: Int) -> String {
    var text = "\(kind.title): \(what), \(amount)"
    if bytes > 0 { text += ", \(style.format(bytes))" }
    if let stackCount { text += " from \(CountText.plain(stackCount, "stack"))" }
    if processCount > 1 { text += " in \(processCount) processes" }
    if let place = responsible {
      text += kind.isMemoryError ? ", in \(place.name)" : ", allocated in \(place.name)"
      if let line = place.place { text += " (\(line))" }
    }
    if let tests { text += ", \(tests.text)" }
    return text
  }
}

extension ReportFrame {
  fileprivate mutating func takeFullName() {
    if let fullName { name = fullName }
  }
}
