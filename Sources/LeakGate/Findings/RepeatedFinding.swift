import Reports

/// Findings that are one fault, which many processes may have.
///
/// For what people read: a leak in each of a hundred workers would take all of the room.
struct RepeatedFinding {
  /// All of them, at least one.
  let findings: [Finding]

  /// The first of them, which stands for all.
  var finding: Finding { findings[0] }

  /// What has to be the same: the fault, and all that is said of it but its amount.
  private struct Key: Hashable {
    var fingerprint: String
    var state: Finding.State
    var isAllowed: Bool
    var reason: String?
    var tests: String?

    init(_ finding: Finding) {
      fingerprint = finding.fingerprint
      state = finding.state
      isAllowed = finding.isAllowed
      // What grew tells by how much, which differs from process to process.
      reason = finding.state == .grown ? nil : finding.reason
      tests = finding.tests?.text
    }
  }

  /// Puts findings together.
  ///
  /// - Returns: Each fault once, in the order of the first ones.
  static func of(_ findings: [Finding]) -> [RepeatedFinding] {
    findings.grouped(by: Key.init).map { RepeatedFinding(findings: $0) }
  }

  /// How many of several there are in all; the first one's own where it is alone.
  var total: Finding {
    var total = finding
    total.count = findings.reduce(0) { $0 &+ $1.count }
    total.bytes = findings.reduce(0) { $0 &+ $1.bytes }
    return total
  }

  /// How many processes have it.
  var processCount: Int { Set(findings.map(\.processTitle)).count }

  /// In one line, for all of them: `Memory leak: Node, 6 blocks, 96 B in 2 processes, allocated in …`.
  func sentence(_ style: ByteStyle = .human) -> String {
    total.sentence(style, processCount: processCount)
  }

  /// The processes by name, the first few of many: `server (pid 12, 13, 14 and 7 more), worker (pid 20)`.
  var processText: String {
    let limit = Self.limit
    let programs = Dictionary(grouping: findings, by: \.process).sorted { $0.key < $1.key }
    let texts = programs.map { name, findings in
      let pids = Set(findings.map(\.pid)).sorted()
      let shown = pids.prefix(limit).map { "\($0)" }.joined(separator: ", ")
      return "\(name) (pid \(shown)"
        + (pids.count > limit ? " and \(pids.count - limit) more)" : ")")
    }
    return Self.list(texts)
  }

  /// The programs by name, the first few of many: `server, worker`.
  var programText: String { Self.list(Set(findings.map(\.process)).sorted()) }

  private static func list(_ programs: [String]) -> String {
    let shown = programs.prefix(limit).joined(separator: ", ")
    return programs.count > limit ? "\(shown) and \(programs.count - limit) more programs" : shown
  }

  private static let limit = 3
}

extension Finding {
  /// The process, as `server (pid 12)`.
  var processTitle: String { "\(process) (pid \(pid))" }
}
