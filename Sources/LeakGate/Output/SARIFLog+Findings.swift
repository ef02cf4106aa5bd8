import Reports

extension SARIFLog {
  /// The log of a verdict.
  init(_ result: GateResult, root: SourceRoot) {
    // Of a script the process is that of its interpreter.
    let name = result.commandName ?? result.processes.first?.name ?? "run"
    let faults = RepeatedFinding.of(result.findings).prefix(Limit.results)
    let steps = Limit.steps(inEachOf: faults.count)
    let notes =
      result.problems.map { Notification(level: "error", message: Message(text: $0.printable)) }
      + result.brokenFigures.map {
        Notification(
          level: "error",
          message: Message(text: "\($0.process.printable): \($0.measured), rule \($0.rule)"))
      }
      + result.failingStale.map {
        Notification(
          level: "error", message: Message(text: "stale in the baseline: \($0.sentence.printable)"))
      }
    runs = [
      Run(
        tool: Tool(
          driver: Driver(
            name: "memtrace", semanticVersion: result.toolVersion,
            rules: FindingKind.allCases.map(Rule.init))),
        automationDetails: Automation(id: "memtrace/\(name.printable)/"),
        invocations: [
          Invocation(
            executionSuccessful: result.verdict != .unmeasured, exitCode: result.exitStatus,
            toolExecutionNotifications: notes)
        ],
        originalUriBaseIds: [
          "SRCROOT": Base(description: Message(text: "The root of the repository."))
        ],
        columnKind: "unicodeCodePoints",
        results: faults.map { Result($0, root: root, steps: steps) })
    ]
  }
}

extension SARIFLog.Rule {
  fileprivate init(_ kind: FindingKind) {
    let severity = kind == .unfreed ? "warning" : "error"
    self.init(
      id: kind.ruleID, name: kind.ruleName, shortDescription: .init(text: kind.title),
      fullDescription: .init(text: kind.explanation), help: .init(text: kind.help),
      defaultConfiguration: .init(level: severity),
      properties: .init(precision: "high", severity: severity, tags: ["memory", "reliability"]))
  }
}

extension FindingKind {
  /// In Pascal case, as SARIF wants names: `DoubleFree`.
  fileprivate var ruleName: String {
    rawValue.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}

extension SARIFLog.Result {
  fileprivate init(_ fault: RepeatedFinding, root: SourceRoot, steps: Int) {
    let finding = fault.total
    let place = root.place(of: finding)
    let related = finding.related.enumerated().compactMap { index, stack in
      let frame = stack.frames.first { $0.role == .user && root.place(of: $0) != nil }
      return frame.flatMap {
        SARIFLog.Location($0, root: root, message: stack.title, id: index + 1)
      }
    }
    let flows =
      [SARIFLog.CodeFlow(finding.kind.stackTitle, finding.frames, root: root, steps: steps)]
      + finding.related.map { SARIFLog.CodeFlow($0.title, $0.frames, root: root, steps: steps) }
    self.init(
      ruleId: finding.kind.ruleID,
      ruleIndex: FindingKind.allCases.firstIndex(of: finding.kind) ?? 0,
      level: finding.fails ? (finding.kind == .unfreed ? "warning" : "error") : "note",
      message: .init(text: fault.sentence().printable),
      locations: [SARIFLog.Location(place, finding)],
      relatedLocations: related.isEmpty ? nil : related,
      codeFlows: flows.compactMap { $0 },
      occurrenceCount: fault.findings.count > 1 ? fault.findings.count : nil,
      partialFingerprints: .init(primaryLocationLineHash: finding.fingerprint),
      baselineState: finding.baselineState,
      suppressions: finding.state == .suppressed
        ? [.init(kind: "external", justification: (finding.reason ?? "").printable)] : nil,
      properties: .init(
        process: fault.programText.printable, count: finding.count, bytes: finding.bytes))
  }
}

extension Finding {
  fileprivate var baselineState: String? {
    switch state {
    case .new: "new"
    case .grown, .expired: "updated"
    case .baselined: "unchanged"
    case .suppressed: nil
    }
  }
}

extension FindingKind {
  fileprivate var stackTitle: String { isMemoryError ? "The wrong call" : "The allocation" }
}

extension SARIFLog.Location {
  /// Where a finding is shown; a finding without a line in the repository at the program's name.
  fileprivate init(_ place: SourceRoot.Place?, _ finding: Finding) {
    let name = finding.responsible?.name ?? finding.what
    logicalLocations = [Logical(fullyQualifiedName: name.printable, kind: "function")]
    // GitHub drops results without a file.
    physicalLocation = Physical(
      place ?? SourceRoot.Place(path: finding.process, line: 1, isInside: true))
  }

  /// A frame; nil where its line is not known.
  fileprivate init?(_ frame: ReportFrame, root: SourceRoot, message: String, id: Int? = nil) {
    guard let place = root.place(of: frame) else { return nil }
    self.id = id
    physicalLocation = Physical(place)
    logicalLocations = [Logical(fullyQualifiedName: frame.name.printable, kind: "function")]
    self.message = .init(text: message.printable)
  }
}

extension SARIFLog.Location.Physical {
  fileprivate init(_ place: SourceRoot.Place) {
    artifactLocation = Artifact(uri: place.uri, uriBaseId: place.isInside ? "SRCROOT" : nil)
    region = Region(startLine: place.line, startColumn: 1)
  }
}

extension SARIFLog.CodeFlow {
  /// The frames from the outermost to the leaf, as a program runs, at most so many of the innermost; nil where no
  /// line is known.
  fileprivate init?(_ title: String, _ frames: [ReportFrame], root: SourceRoot, steps: Int) {
    let known = StackText.telling(frames).lazy.compactMap { frame in
      SARIFLog.Location(
        frame, root: root, message: frame.name.shortenedInTheMiddle(to: NameShortener.nameWidth))
    }
    let locations = known.prefix(steps).map { Step(location: $0) }
    guard !locations.isEmpty else { return nil }
    message = .init(text: title.printable)
    threadFlows = [ThreadFlow(locations: locations.reversed())]
  }
}
