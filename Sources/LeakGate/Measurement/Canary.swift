import LeakAnalysis
import Reports
import TraceReader

/// The leaks that the recorder plants on request, to prove that leaks would be found.
enum Canary {
  /// The requested bytes of each: `MT_CANARY_SIZE` of the recorder.
  static let size: UInt64 = 1729
  /// The image whose code allocates them.
  static let image = "libmemtrace.so"

  /// Whether a planted leak is among the leaks.
  ///
  /// A chance pointer may lead to one of them, not to all. The recorder's own blocks are counted for
  /// that.
  static func isFound(in analysis: LeakAnalysis, source: ReportSource) throws -> Bool {
    var query = LeaksQuery()
    query.includesSystem = true
    query.treeLines = 1
    query.hasRows = false
    query.sizes = ByteRange("\(size)")
    return try LeaksReport(analysis, source: source, query: query).treeGroups.contains { group in
      group.frames.first?.imageName == image
    }
  }
}
