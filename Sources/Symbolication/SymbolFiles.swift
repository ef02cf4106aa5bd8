/// Files with symbols that stay open from one trace to the next.
///
/// The tests of a suite have their libraries in common, and often their program: opening them, and
/// reading their debug information, takes longer than measuring a small process. Files that several
/// traces in a row did not need are closed. Belongs to one thread at a time.
public final class SymbolFiles {
  private struct Entry {
    var symbols: ImageSymbols
    var problem: SymbolicationWarning.Reason?
    /// The number of the trace that needed it last.
    var lastUse: Int
  }

  private var entries: [ImageFile: Entry] = [:]
  private var traceCount = 0

  /// Creates a collection without any open file.
  public init() {}

  /// How many files are open.
  var count: Int { entries.count }

  /// A file that this many traces in a row did not need is closed.
  static let mostIdleTraces = 8

  /// Notes that the files that are asked for from now on are those of another trace.
  func beginTrace() {
    traceCount += 1
    entries = entries.filter { $0.value.lastUse >= traceCount - Self.mostIdleTraces }
  }

  /// The symbols of a file.
  ///
  /// - Parameters:
  ///   - file: With a build ID: it tells that the file is the one that another trace needed.
  ///   - open: Opens it where that has not been done yet, and says what could not be used.
  /// - Returns: What `open` returned, now or before.
  func symbols(
    of file: ImageFile, open: () -> (ImageSymbols, SymbolicationWarning.Reason?)
  ) -> (ImageSymbols, SymbolicationWarning.Reason?) {
    if let entry = entries[file] {
      entries[file]?.lastUse = traceCount
      return (entry.symbols, entry.problem)
    }
    let (symbols, problem) = open()
    entries[file] = Entry(symbols: symbols, problem: problem, lastUse: traceCount)
    return (symbols, problem)
  }
}
