import Reports

/// The forms that a verdict is written in.
public enum GateOutputKind: String, Sendable, CaseIterable {
  /// For people; the last line is for programs.
  case text
  /// The document `memtrace.check`, see `docs/json-schema.md`.
  case json
  /// Annotations of GitHub Actions: workflow commands for its log.
  case github
  /// The job summary of GitHub Actions: Markdown.
  case summary
  /// SARIF 2.1.0.
  case sarif
  /// JUnit XML.
  case junit
  /// JUnit XML as strict schemas have it.
  case xunit
  /// The code quality report of GitLab.
  case gitlab
  /// The log of Valgrind's memcheck.
  case valgrind
}

extension GateResult {
  /// Writes the verdict in one form.
  ///
  /// - Parameters:
  ///   - kind: The form.
  ///   - style: The style of the text form.
  ///   - root: The folder that paths in machine-readable forms are relative to.
  ///   - isLog: Whether it is for a log, which has room for the first findings only, as text.
  /// - Returns: The whole output.
  /// - Throws: ``ReportError`` never, unless a document cannot be encoded.
  public func output(
    as kind: GateOutputKind, style: TextStyle = TextStyle(), root: SourceRoot, isLog: Bool = false
  ) throws -> String {
    switch kind {
    case .text:
      var result = forPeople
      if isLog { result.mostFindings = Self.mostFindingsInLogs }
      return try ReportWriter(format: .text, style: style).output(of: result)
    case .json: return try ReportWriter(format: .json).output(of: self)
    case .github: return GitHubAnnotations(result: forPeople, root: root).text
    case .summary: return GitHubSummary(result: forPeople, root: root).text
    case .sarif: return try JSONText.of(SARIFLog(self, root: root), isIndented: false)
    case .junit: return JUnitXML(result: self, root: root, isStrict: false).text
    case .xunit: return JUnitXML(result: self, root: root, isStrict: true).text
    case .gitlab: return try JSONText.of(GitLabIssue.issues(of: self, root: root))
    case .valgrind: return ValgrindLog(result: self).text
    }
  }
}
