import Reports
import TraceReader

/// Makes findings of what the reports of one process say.
struct FindingCollector {
  let process: String
  let pid: UInt32
  let trace: String?
  let tests: TestTimeline
  /// One for each fingerprint, in the order in which they were found.
  private(set) var findings: [Finding] = []
  private var positions: [String: Int] = [:]
  private var names = NormalisedNames()
  private var alike = AlikeStacks()

  init(process: String, pid: UInt32, trace: String?, tests: TestTimeline) {
    self.process = process
    self.pid = pid
    self.trace = trace
    self.tests = tests
  }

  /// Adds the trees of leaked blocks: what a root drags along belongs to it.
  mutating func add(_ report: LeaksReport, of source: ReportSource) {
    for group in report.treeGroups {
      let kind: FindingKind = group.role == .rootCycle ? .cycle : .leak
      var finding = finding(
        kind, group.name ?? "blocks without a stack", group.frames,
        responsible: source.names.responsible(of: StackID(rawValue: group.stack)),
        at: group.rootTimes.map(source.clock.nanoseconds))
      (finding.count, finding.bytes) = (group.count, group.bytes)
      finding.instances = group.instances
      // Of what has been found already the first tree is kept, and there may be a million of these.
      if positions[finding.fingerprint] == nil {
        finding.tree = (group.trees.first ?? []).map { line in
          String(repeating: "   ", count: line.depth) + line.text(.exact)
        }
      }
      add(finding)
    }
  }

  /// Adds the blocks that were not freed.
  mutating func add(_ report: UnfreedReport) {
    for group in report.groups {
      let function = group.functions.first ?? "malloc"
      let block =
        function == Operation.announced.name ? Operation.announced.blockName : function
      let what =
        group.types.first
        ?? "\(block) in " + (group.responsible?.name ?? "code without a stack")
      var finding = finding(.unfreed, what, group.frames, responsible: group.responsible)
      (finding.count, finding.bytes, finding.instances) = (group.count, group.bytes, group.count)
      add(finding)
    }
  }

  /// Adds the misuses of the allocator.
  mutating func add(_ report: ErrorsReport, of source: ReportSource) {
    for entry in report.entries {
      let event = entry.foremost
      let called = Self.culprit(of: entry, source)
      let place = called ?? event.frames.first
      let function = place?.name ?? "code without a stack"
      let what = entry.isStopped ? function : "\(event.function) in \(function)"
      var finding = finding(
        FindingKind(entry.kind.category), what, event.frames,
        responsible: called ?? event.frames.first { $0.role == .system },
        at: [entry.offending.timeNanoseconds])
      (finding.count, finding.instances) = (entry.count, entry.count)
      finding.bytes = entry.block?.size ?? 0
      if let first = entry.firstFree, first != event {
        let verb = entry.isFreedOnce ? "freed by" : "freed first by"
        finding.related.append(
          Finding.RelatedStack(title: "\(verb) \(first.function)", frames: first.frames))
      }
      if let block = entry.block, block.allocated != event {
        finding.related.append(
          Finding.RelatedStack(
            title: "allocated by \(block.allocated.function)", frames: block.allocated.frames))
      }
      add(finding)
    }
  }

  /// The frame of the program that is held responsible for a misuse: who calls what frees for its callers, unless
  /// that frees the block twice in one call.
  private static func culprit(
    of entry: ErrorsReport.Entry, _ source: ReportSource
  ) -> ReportFrame? {
    let event = entry.foremost
    let nearest = event.frames.first { $0.role == .user }
    guard let caller = source.names.responsible(of: StackID(rawValue: event.stack)),
      caller.role == .user, caller != nearest
    else { return nearest }
    let ways = [event, entry.firstFree].map { $0?.frames.drop { $0 != caller } ?? [] }
    let isOneCall = event != entry.firstFree && ways[0] == ways[1]
    return isOneCall ? nearest : caller
  }

  private mutating func finding(
    _ kind: FindingKind, _ what: String, _ frames: [ReportFrame], responsible: ReportFrame?,
    at times: [UInt64] = []
  ) -> Finding {
    var finding = Finding(
      kind: kind, what: what, count: 0, bytes: 0, instances: 0,
      fingerprint: Fingerprint.of(kind, what: what, frames: frames, &names), process: process,
      pid: pid,
      trace: trace, frames: frames, responsible: responsible)
    let evidence = tests.evidence(frames, at: times)
    if !evidence.isEmpty { finding.tests = evidence }
    return finding
  }

  /// Stacks that differ only in what changes from build to build make one finding.
  mutating func add(_ finding: Finding) {
    guard let position = positions[finding.fingerprint] else {
      positions[finding.fingerprint] = findings.count
      findings.append(finding)
      return
    }
    findings[position].count &+= finding.count
    findings[position].bytes &+= finding.bytes
    findings[position].instances &+= finding.instances
    alike.add(finding.frames, to: &findings[position], at: position)
    if let more = finding.tests {
      findings[position].tests = findings[position].tests ?? TestEvidence()
      findings[position].tests?.add(more)
    }
  }
}
