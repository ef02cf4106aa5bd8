import Reports

/// Markdown for the page of a job; GitHub takes up to 1 MiB.
struct GitHubSummary {
  static let findingLimit = 200
  static let byteLimit = 1_000_000
  let result: GateResult
  let root: SourceRoot

  var text: String {
    var text = "## memtrace: \(headline)\n\n"
    if !result.problems.isEmpty {
      text += "**Not measured:**\n\n"
      text +=
        result.joiningAlike(result.problems).prefix(50).map { "- \(Self.escaped($0))\n" }.joined()
        + "\n"
    }
    if !result.stale.isEmpty {
      text += "**Stale in the baseline:**\n\n"
      text += result.stale.prefix(50).map { "- \(Self.escaped($0.sentence))\n" }.joined()
      let rest = result.stale.count - 50
      text += (rest > 0 ? "- … and \(rest) more\n" : "") + "\n"
    }
    let broken = result.brokenLines(.human)
    if !broken.isEmpty {
      text += "| Rule | Process | Measured | Allowed |\n| --- | --- | --- | ---: |\n"
      for line in broken.prefix(50) {
        text += "| \(Self.code(line.rule)) | \(Self.escaped(line.process)) "
        text += "| \(line.measured) | \(line.allowed) |\n"
      }
      text += "\n"
    }
    text += findings
    text += processes
    return text
  }

  private var headline: String {
    switch result.verdict {
    case .pass: "passed"
    case .fail: "failed, \(result.failureText)"
    case .unmeasured: "could not measure everything"
    }
  }

  private var findings: String {
    let counted = RepeatedFinding.of(result.counted)
    guard !counted.isEmpty else { return "" }
    var text = "| Finding | What | # | Bytes | Where | Process |\n"
    text += "| --- | --- | ---: | ---: | --- | --- |\n"
    var shown = 0
    for repeated in counted.prefix(Self.findingLimit) {
      let finding = repeated.total
      let processes = repeated.processCount
      let process = finding.process + (processes > 1 ? ", \(processes) processes" : "")
      let place = root.place(of: finding).map { Self.code("\($0.path):\($0.line)") } ?? ""
      let row =
        "| \(finding.kind.title)\(finding.isAllowed ? " (allowed)" : "") | \(Self.escaped(finding.what)) | \(finding.count) "
        + "| \(ByteStyle.human.format(finding.bytes)) | \(place) | \(Self.escaped(process)) |\n"
      guard text.utf8.count + row.utf8.count < Self.byteLimit / 2 else { break }
      text += row
      shown += 1
    }
    text += "\n"
    if counted.count > shown { text += "… and \(counted.count - shown) more findings.\n\n" }
    for finding in counted.prefix(10) { text += details(finding) }
    return text + "\n"
  }

  private func details(_ repeated: RepeatedFinding) -> String {
    let finding = repeated.finding
    var lines = finding.tree + FrameLines.of(finding.frames, limit: 30)
    for related in finding.related {
      lines += ["\(related.title):"] + FrameLines.of(related.frames, limit: 30)
    }
    lines.append("\(repeated.processText), fingerprint \(finding.fingerprint)")
    let body = lines.map { $0.printable.replacing("```", with: "'''") }.joined(separator: "\n")
    return "<details><summary>\(Self.inElement(repeated.sentence()))</summary>\n\n"
      + "```\n\(body)\n```\n\n</details>\n"
  }

  private var processes: String {
    var text = "| Process | Ended | Checked |\n| --- | --- | --- |\n"
    let lines = result.processLines
    for line in lines.prefix(100) {
      text += "| \(Self.escaped(line.title)) | \(Self.escaped(line.ending)) "
      text += "| \(Self.escaped(line.summary)) |\n"
    }
    let rest = lines.count - 100
    return text + (rest > 0 ? "\n… and \(rest) more processes.\n" : "")
  }

  /// Text as code inside a table of Markdown, where a `|` ends the cell even in code.
  static func code(_ text: String) -> String {
    let text = text.printable.replacing("|", with: "\\|")
    return text.contains("`") ? "`` \(text) ``" : "`\(text)`"
  }

  /// Text inside an element of HTML, where no Markdown is looked for.
  static func inElement(_ text: String) -> String {
    text.printable.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      .replacing(">", with: "&gt;")
  }

  /// Text that stays text inside a table of Markdown.
  static func escaped(_ text: String) -> String {
    inElement(text).reduce(into: "") { result, character in
      switch character {
      case "|", "*", "_", "`", "[", "]", "\\", "~": result += "\\\(character)"
      default: result.append(character)
      }
    }
  }
}
