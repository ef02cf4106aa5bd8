import Reports

/// Workflow commands that GitHub Actions turns into annotations of the change.
///
/// GitHub keeps ten of each kind of a step and drops the rest without a word, so that the largest
/// nine come first and the tenth says how many more there are. What several processes have is one.
/// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
struct GitHubAnnotations {
  static let limit = 10
  let result: GateResult
  let root: SourceRoot

  var text: String {
    let failures =
      RepeatedFinding.of(result.failing).map(annotation) + result.brokenFigures.map(annotation)
      + result.failingStale.map { annotation($0, "error") }
    let problems = result.problems.map {
      command("warning", [("title", "memtrace could not measure")], $0)
    }
    let notes =
      RepeatedFinding.of(result.allowed).map(annotation)
      + (result.failsOnStale ? [] : result.stale.map { annotation($0, "notice") })
    let lines =
      limited(failures, "error", "findings") + limited(problems, "warning", "problems")
      + limited(notes, "notice", "notes")
    return lines.map { $0 + "\n" }.joined()
  }

  /// As many lines as GitHub keeps, of which the last one says what is missing.
  private func limited(_ lines: [String], _ name: String, _ noun: String) -> [String] {
    guard lines.count > Self.limit else { return lines }
    let rest = "\(lines.count - (Self.limit - 1)) more \(noun)"
    return lines.prefix(Self.limit - 1) + [
      command(
        name, [("title", "memtrace: \(rest)")], "\(rest) are in the job summary and in the report.")
    ]
  }

  private func annotation(_ repeated: RepeatedFinding) -> String {
    let finding = repeated.finding
    var properties: [(String, String)] = []
    if let place = root.place(of: finding) {
      properties = [("file", place.path), ("line", "\(place.line)"), ("endLine", "\(place.line)")]
    }
    let total = repeated.total
    let size = total.bytes > 0 ? ", \(ByteStyle.human.format(total.bytes))" : ""
    properties.append(("title", "\(total.kind.title): \(total.amount)\(size)"))
    return command(finding.fails ? "error" : "notice", properties, message(repeated))
  }

  private func annotation(_ rule: GateResult.RuleResult) -> String {
    command(
      "error", [("title", "memtrace: \(rule.rule)")],
      "\(rule.processTitle): \(rule.sentence(.human))")
  }

  private func annotation(_ entry: GateResult.StaleEntry, _ name: String) -> String {
    command(
      name, [("title", "memtrace: stale baseline entry")],
      "\(entry.what) (\(entry.fingerprint)) was not found any more.")
  }

  private func message(_ repeated: RepeatedFinding) -> String {
    let finding = repeated.finding
    var lines = [repeated.sentence()]
    if finding.isAllowed { lines.append("allowed by the rules") }
    if let reason = finding.reason { lines.append(reason) }
    lines += FrameLines.of(finding.frames, limit: 8)
    lines.append("\(repeated.processText), fingerprint \(finding.fingerprint)")
    return lines.joined(separator: "\n")
  }

  private func command(
    _ name: String, _ properties: [(String, String)], _ message: String
  ) -> String {
    let list = properties.map { "\($0.0)=\(Self.property($0.1))" }.joined(separator: ",")
    return "::\(name)\(list.isEmpty ? "" : " \(list)")::\(Self.data(message))"
  }

  /// Text of a command: nothing in a name may end it, begin another or colour the log.
  static func data(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "%": result += "%25"
      case "\r\n": result += "%0D%0A"
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      default: result += String(character).printable
      }
    }
  }

  static func property(_ text: String) -> String {
    data(text).reduce(into: "") { result, character in
      switch character {
      case ":": result += "%3A"
      case ",": result += "%2C"
      default: result.append(character)
      }
    }
  }
}

/// Frames of a stack in lines, for forms that have no place for structure.
enum FrameLines {
  static func of(_ frames: [ReportFrame], limit: Int = .max) -> [String] {
    let shown = FoldedStack(StackText.telling(frames)).lines
    var lines = shown.prefix(limit).map { "    \(text($0))" }
    let rest = shown.dropFirst(limit).reduce(0) { $0 + $1.frameCount }
    if rest > 0 { lines.append("    " + CountText.more(rest, "frame")) }
    return lines
  }

  private static func text(_ line: FoldedStack.Line) -> String {
    switch line {
    case .frame(let frame): frame.title.printable
    case .again(let period, let times): FoldedStack.text(period: period, times: times)
    }
  }
}
