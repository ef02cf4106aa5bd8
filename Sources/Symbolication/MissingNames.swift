/// What is to be said where a report lacks names of functions, or has doubtful ones.
public struct MissingNames: Sendable, Hashable {
  private let missing: [SymbolicationWarning]
  private let doubtful: [SymbolicationWarning]

  /// Looks at what has not worked while a report was made.
  ///
  /// - Parameter warnings: One for each image, in the order in which the report needed them.
  public init(_ warnings: [SymbolicationWarning]) {
    missing = warnings.filter { $0.reason != .newerThanTrace }
    doubtful = warnings.filter { $0.reason == .newerThanTrace }
  }

  /// A line each for files that names are missing of, and for those whose names may be wrong; none where all is well.
  public var lines: [String] {
    [
      line(
        missing, "their frames have offsets instead of names: they are not here, or of other builds"
      ),
      line(
        doubtful, "their names may be wrong: they are newer than the trace and have no build ID"),
    ].compactMap { $0 }
  }

  /// Where else names can be had; nil where none is missing, or the user has said where.
  public var advice: String? {
    guard !missing.isEmpty, !missing.contains(where: \.isInSystemRoot) else { return nil }
    return "names of a program in a container: --sysroot says where its files are, "
      + "'memtrace pack' in there keeps the names in the trace"
  }

  private func line(_ some: [SymbolicationWarning], _ what: String) -> String? {
    guard let first = some.first else { return nil }
    if some.count == 1 { return first.description }
    return "\(NameList.text(some.map { FrameClassifier.fileName($0.imagePath) })): \(what)"
  }
}
