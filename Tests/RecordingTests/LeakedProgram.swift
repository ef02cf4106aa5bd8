import LeakAnalysis
import Reports
import Symbolication
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// A recorded program whose leaks are known: what `memtrace leaks` says about it.
///
/// The programs are made of cases, functions named `leak…` or `keep…`; each block belongs to the
/// case whose function is on its stack.
struct LeakedProgram {
  /// Blocks of one type.
  struct Figures: Hashable, CustomStringConvertible {
    var count: UInt64
    var bytes: UInt64
    /// How many of the blocks nothing points to, or are part of a root cycle.
    var roots: UInt64

    init(_ count: UInt64, _ bytes: UInt64, roots: UInt64) {
      (self.count, self.bytes, self.roots) = (count, bytes, roots)
    }

    var description: String { "(\(count), \(bytes), roots: \(roots))" }
  }

  let trace: Trace
  let report: LeaksReport
  private let byStack: LeaksReport
  private let names: FrameNames

  /// Analyses the last snapshot of a trace.
  init(_ trace: Trace, file: String? = nil) throws {
    self.trace = trace
    let source = ReportSource(trace, file: file, symbolicator: ELFSymbolicator())
    let index = try trace.snapshotIndex()
    let analysis = try trace.leakAnalysis(atSnapshot: index, source: source)
    var query = LeaksQuery()
    byStack = try LeaksReport(analysis, source: source, query: query)
    query.grouping = .type
    report = try LeaksReport(analysis, source: source, query: query)
    names = FrameNames(trace)
  }

  /// Leaked blocks by type; without the system's.
  var leaks: [String: Figures] { Self.figures(report.rows) }

  /// The blocks that are possibly leaked, by type.
  var possible: [String: Figures] { Self.figures(report.possibleRows) }

  private static func figures(_ rows: LongList<LeakRow>) -> [String: Figures] {
    Dictionary(
      rows.map { ($0.name, Figures($0.count, $0.bytes, roots: $0.rootCount)) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Leaked blocks by case; those on whose stack none is found are under their innermost function.
  var leaksByCase: [String: Int] { cases(byStack.rows) }

  /// Possible leaks by case.
  var possibleByCase: [String: Int] { cases(byStack.possibleRows) }

  private func cases(_ rows: LongList<LeakRow>) -> [String: Int] {
    var cases: [String: Int] = [:]
    for row in rows {
      let functions = names.names(of: StackID(row.stack))
      let name = functions.last { $0.hasPrefix("leak") || $0.hasPrefix("keep") }
      cases[name ?? functions.first ?? "", default: 0] += Int(row.count)
    }
    return cases
  }

  /// What the program itself says it leaks, by case.
  static func expected(_ program: TestProgram) throws -> [String: Int] {
    let run = try ProcessRun.run([program.path.string, "--list"])
    var cases: [String: Int] = [:]
    for line in run.outputText.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2, let count = Int(words[1]), count > 0 { cases[String(words[0])] = count }
    }
    return cases
  }
}
