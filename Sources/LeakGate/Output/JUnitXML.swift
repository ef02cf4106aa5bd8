import Reports

/// JUnit XML as Jenkins, GitLab and others read it: one test case for each fault that counts, however
/// many processes have it, and one that passes when there is none, so that the file is never empty.
///
/// A case is known by its class and its name, which must not be another's, too.
struct JUnitXML {
  let result: GateResult
  let root: SourceRoot
  /// Whether nothing is said that the schema of Jenkins' plugin xUnit does not know.
  ///
  /// It takes no file that has more. The places of cases, which GitLab shows, are left out then; their messages
  /// name them as well.
  let isStrict: Bool

  var text: String {
    let cases = self.cases
    let failures = cases.count { $0.contains("<failure ") }
    let errors = cases.count { $0.contains("<error ") }
    let skipped = cases.count { $0.contains("<skipped ") }
    let counts = "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\""
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites \(counts)>
        <testsuite name="memtrace" \(counts) skipped="\(skipped)" time="0">
      \(cases.joined())  </testsuite>
      </testsuites>

      """
  }

  private var cases: [String] {
    var cases = faultCases
    cases += result.brokenFigures.map { rule in
      Self.testCase(
        className: "memtrace.rules", name: "\(rule.rule) in \(rule.process)",
        body: Self.element(
          "failure", rule.sentence(.human), "rule", ""))
    }
    cases += result.failingStale.map { entry in
      Self.testCase(
        className: "memtrace.baseline", name: "\(entry.what) (\(entry.fingerprint))",
        body: Self.element("failure", "\(entry.sentence); take it out", "stale", ""))
    }
    cases += zip(problemNames, result.problems).map { name, problem in
      Self.testCase(
        className: "memtrace.measurement", name: name,
        body: Self.element("error", problem, "unmeasured", ""))
    }
    if cases.isEmpty {
      cases = [Self.testCase(className: "memtrace", name: "no memory findings", body: "")]
    }
    return cases
  }

  /// The problems without the IDs of processes, which are others each time, while cases have a history; with them
  /// where nothing else tells two apart.
  private var problemNames: [String] {
    let names = result.problems.map { $0.replacing(/\ \(pid \d+\)/, with: "") }
    let uses = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    return zip(names, result.problems).map { uses[$0] == 1 ? $0 : $1 }
  }

  /// A case for each fingerprint, with a name that no other case has.
  private var faultCases: [String] {
    let faults = RepeatedFinding.of(result.findings.filter { $0.state != .suppressed })
      .grouped(by: \.finding.fingerprint)
    let uses = Dictionary(faults.map { (Self.title($0[0].finding), 1) }, uniquingKeysWith: +)
    return faults.map { fault in
      var title = Self.title(fault[0].finding)
      if uses[title] != 1 { title.name += " [\(fault[0].finding.fingerprint)]" }
      return testCase(fault, title)
    }
  }

  /// By what a case is known.
  private struct Title: Hashable {
    var className: String
    var name: String
  }

  private static func title(_ finding: Finding) -> Title {
    Title(
      className: finding.responsible?.imageName ?? finding.process,
      name: "\(finding.kind.title): \(finding.name)")
  }

  /// - Parameters:
  ///   - fault: What has one fingerprint, what the gate fails for first.
  ///   - title: The name of the case.
  /// - Returns: The case as XML.
  private func testCase(_ fault: [RepeatedFinding], _ title: Title) -> String {
    let finding = fault[0].finding
    var body = ""
    if finding.fails {
      var lines = finding.tree + FrameLines.of(finding.frames)
      for related in finding.related {
        lines += ["\(related.title):"] + FrameLines.of(related.frames)
      }
      lines.append("\(fault[0].processText), fingerprint \(finding.fingerprint)")
      for other in fault.dropFirst() where other.finding.fails {
        lines.append("\(Self.message(other)): \(other.processText)")
      }
      body = Self.element(
        "failure", Self.message(fault[0]), finding.kind.ruleID, lines.joined(separator: "\n"))
    } else {
      let why = finding.isAllowed ? "allowed by the rules" : "in the baseline"
      body = "      <skipped message=\"\(Self.attribute(why))\"/>\n"
    }
    return Self.testCase(
      className: title.className, name: title.name, place: isStrict ? nil : root.place(of: finding),
      body: body)
  }

  private static func message(_ repeated: RepeatedFinding) -> String {
    repeated.sentence() + (repeated.finding.reason.map { ": \($0)" } ?? "")
  }

  private static func testCase(
    className: String, name: String, place: SourceRoot.Place? = nil, body: String
  ) -> String {
    let file = place.map { " file=\"\(attribute($0.path))\" line=\"\($0.line)\"" } ?? ""
    let head =
      "    <testcase classname=\"\(attribute(className))\" name=\"\(attribute(name))\"\(file) time=\"0\""
    return body.isEmpty ? head + "/>\n" : head + ">\n" + body + "    </testcase>\n"
  }

  private static func element(
    _ name: String, _ message: String, _ type: String, _ text: String
  ) -> String {
    "      <\(name) message=\"\(attribute(message))\" type=\"\(attribute(type))\">"
      + "\(escaped(text))</\(name)>\n"
  }

  private static func attribute(_ text: String) -> String {
    escaped(text).reduce(into: "") { result, character in
      switch character {
      case "\"": result += "&quot;"
      case "\n": result += "&#10;"
      case "\t": result += "&#9;"
      default: result.append(character)
      }
    }
  }

  /// XML 1.0 has no way at all to write most control characters: they are written out, as in the other forms.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case "\u{fffe}", "\u{ffff}": result += "\u{fffd}"
      default: result += String(scalar).printable
      }
    }
    return result
  }
}
