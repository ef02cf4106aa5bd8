import TraceReader

/// Which heap snapshot of a trace is meant.
public enum SnapshotChoice: Sendable, Hashable {
  /// The last one that is complete.
  case usual
  /// The one with this number, counted from 0.
  case number(Int)
  /// The one of this mark, or the last up to this point in time.
  case moment(String)
}

extension Trace {
  /// The position of the snapshot that is asked for, complete or not.
  ///
  /// - Returns: nil when none is asked for.
  /// - Throws: ``ReportError`` when there is no such snapshot.
  func askedSnapshot(_ choice: SnapshotChoice) throws -> Int? {
    switch choice {
    case .usual: nil
    case .number(let number): try snapshot(numbered: number)
    case .moment(let moment): try snapshot(at: moment)
    }
  }

  private func snapshot(numbered number: Int) throws -> Int {
    guard snapshots.indices.contains(number) else {
      let there =
        snapshots.isEmpty
        ? "it has none"
        : snapshots.count == 1 ? "it has only snapshot 0" : "it has 0 to \(snapshots.count - 1)"
      throw ReportError.notFound("the trace has no snapshot \(number): \(there)")
    }
    return number
  }

  private func snapshot(at moment: String) throws -> Int {
    guard let first = snapshots.first else {
      throw ReportError.notFound("the trace has no snapshot up to \(moment): it has none")
    }
    if let found = snapshots.last(where: { $0.reason.name == moment }) { return found.index }
    guard let time = TimePoint(moment) else {
      let names = snapshots.compactMap(\.reason.name)
      throw ReportError.notFound(NearMatches.message("mark with a snapshot", moment, in: names))
    }
    // The one at the end is taken when the process has ended, as far as its trace says when.
    let last = snapshots.map { clock.nanoseconds($0.time) }.max() ?? 0
    let wanted = try nanoseconds(at: time, minimumLength: last)
    // Times are shown in whole microseconds: one that was copied from a report is that snapshot's.
    guard let found = snapshots.last(where: { clock.nanoseconds($0.time) / 1000 <= wanted / 1000 })
    else {
      let time = TimeText.timestamp(clock.nanoseconds(first.time))
      throw ReportError.notFound("no snapshot up to \(moment); the first one is at \(time)")
    }
    return found.index
  }
}
