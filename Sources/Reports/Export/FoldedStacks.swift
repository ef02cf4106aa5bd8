import TraceReader

/// Stacks in one line each, as `flamegraph.pl`, inferno and speedscope read them: `main;parse 42`.
///
/// Source of the form: <https://github.com/brendangregg/FlameGraph>.
public struct FoldedStacks: Sendable {
  /// One for each different stack, in the order of their text, each with its line break.
  public private(set) var lines: [String] = []

  /// Folds the stacks of a replay.
  ///
  /// - Parameters:
  ///   - result: The replay.
  ///   - source: Names.
  ///   - filter: Which blocks are counted.
  ///   - value: What is counted of them; stacks with nothing of it are left out.
  ///   - options: In which order functions come, and which.
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(
    _ result: ReplayResult, source: ReportSource, filter: SiteFilter, value: ProfileValue,
    options: CallTreeOptions = CallTreeOptions()
  ) throws {
    let sites = try filter.apply(to: result.sites, source: source)
    var paths = CallPaths(source, options)
    var values: [[Int]: UInt64] = [:]
    let counted = sites.filter { value.of($0.tally) > 0 }
    paths.forEachPath(of: counted, weight: { value.of($0.tally) }) { path, sum in
      values[path, default: 0] &+= sum
    }
    let names = paths.table.frames.map { Self.escaped($0.name) }
    lines = values.map { path, value in
      path.map { names[$0] }.joined(separator: ";") + " \(value)\n"
    }
    .sorted()
  }

  /// A name that holds nothing of what parts the fields of a line.
  private static func escaped(_ name: String) -> String {
    String(name.printable.map { $0 == ";" ? ":" : $0 })
  }
}
