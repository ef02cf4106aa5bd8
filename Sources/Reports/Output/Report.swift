/// A result that can be written as text, JSON and, where it is a table, CSV.
///
/// Reports are values: they are made from a trace's replay, and writing one reads nothing else.
/// The `Encodable` conformance is the JSON document of `docs/json-schema.md` without its first
/// two fields; `schema` and `version` are added by ``ReportWriter``.
public protocol Report: Encodable, Sendable {
  /// Names the document: the `schema` field, such as `memtrace.allocations`.
  static var schema: String { get }

  /// The version of the document: raised when a field changes its meaning or goes away.
  static var schemaVersion: Int { get }

  /// Writes the report for people.
  func write(to page: inout TextPage)

  /// The report as rows, or nil when it is not tabular.
  var csv: CSVTable? { get }
}

extension Report {
  /// All documents are at version 1 so far.
  public static var schemaVersion: Int { 1 }
}

/// The forms a report can be written in.
public enum ReportFormat: String, Sendable, CaseIterable {
  /// For people.
  case text
  /// One document, see `docs/json-schema.md`.
  case json
  /// Comma-separated values with a header row, RFC 4180.
  case csv
}

/// Turns a report into the bytes to print.
public struct ReportWriter: Sendable {
  /// The form.
  public var format: ReportFormat
  /// The style of the text form.
  public var style: TextStyle

  /// Makes a writer.
  public init(format: ReportFormat, style: TextStyle = TextStyle()) {
    self.format = format
    self.style = style
  }

  /// The whole output, ending in a line break.
  ///
  /// - Throws: ``ReportError`` when the report has no such form.
  public func output(of report: some Report) throws -> String {
    var output = ""
    try parts(of: report).forEach { output += $0 }
    return output
  }

  /// The output part by part, so that long lists are never in memory as a whole.
  ///
  /// - Throws: ``ReportError`` when the report has no such form.
  public func parts(of report: some Report) throws -> ReportParts {
    switch format {
    case .text:
      var page = TextPage(style: style)
      report.write(to: &page)
      return ReportParts(forEachPart: page.write)
    case .json:
      return try ReportParts(forEachPart: JSONDocument(report).write)
    case .csv:
      guard let table = report.csv else { throw ReportError.notTabular }
      return ReportParts(forEachPart: table.write)
    }
  }
}

/// The output of a report, of which long lists are made as they are written.
public struct ReportParts {
  fileprivate let forEachPart: ((String) throws -> Void) throws -> Void

  /// Visits the parts in order; the last one ends in a line break.
  ///
  /// - Throws: What `body` throws.
  public func forEach(_ body: (String) throws -> Void) throws {
    try forEachPart(body)
  }
}
