import Testing
import TraceTestSupport

@testable import Reports

/// Compares a report with the snapshots of each of its forms: text as wide as it likes and in 80
/// columns, JSON, and CSV where it has that.
///
/// - Parameters:
///   - report: The report.
///   - name: What the names of the snapshots begin with.
///   - csv: Whether the report is a table.
///   - testFile: The file of the test.
///   - sourceLocation: Where to report a difference.
/// - Throws: ``ReportError`` when the report has no such form.
func expectForms(
  _ report: some Report, _ name: String, csv: Bool = true, testFile: String = #filePath,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  var forms = [
    (report.text(), "\(name).txt"), (report.text(width: 80), "\(name)-80.txt"),
    (try ReportWriter(format: .json).output(of: report), "\(name).json"),
  ]
  if csv { forms.append((try ReportWriter(format: .csv).output(of: report), "\(name).csv")) }
  for (text, file) in forms {
    expectSnapshot(text, file, testFile: testFile, sourceLocation: sourceLocation)
  }
}
