import SystemPackage

/// The files of one recording of one process: a trace, the packed form of it, copies of either.
struct TraceCopies {
  /// Their paths in the order in which they were found, never none.
  private(set) var paths: [String]

  /// Puts traces together that are the same recording; one whose header cannot be read is alone.
  ///
  /// - Parameter paths: The traces.
  /// - Returns: In the order of the first ones.
  static func grouped(_ paths: [String]) -> [TraceCopies] {
    var groups: [TraceCopies] = []
    var known: [[UInt8]: Int] = [:]
    for path in paths {
      let recording = TraceFileHeader(readingFrom: FilePath(argument: path))?.traceID
      if let recording, let index = known[recording] {
        groups[index].paths.append(path)
        continue
      }
      if let recording { known[recording] = groups.count }
      groups.append(TraceCopies(paths: [path]))
    }
    return groups
  }

  /// Reads them until one lacks nothing: others may be damaged, or cut where a copy was not finished.
  ///
  /// - Parameters:
  ///   - lackCount: How much a trace lacks, from what was read.
  ///   - read: Reads a trace.
  /// - Returns: The first of those that lack the least, with what was read.
  /// - Throws: ``CommandFailure`` of the first one where none can be read.
  func best<Content>(
    by lackCount: (Content) -> Int, _ read: (String) throws -> Content
  ) throws -> (path: String, content: Content) {
    var best: (path: String, content: Content, lackCount: Int)?
    var failure: CommandFailure?
    for path in paths {
      do {
        let content = try read(path)
        let count = lackCount(content)
        if count < best?.lackCount ?? .max { best = (path, content, count) }
        if count == 0 { break }
      } catch let unreadable as CommandFailure {
        failure = failure ?? unreadable
      }
    }
    if let best { return (best.path, best.content) }
    throw failure ?? CommandFailure("there is no trace", exitStatus: ExitStatus.noTrace)
  }

  /// What is said of those that were not chosen.
  ///
  /// - Parameter chosen: The path of the one that was.
  /// - Returns: A sentence each.
  func notes(choosing chosen: String) -> [String] {
    paths.filter { $0 != chosen }.map { "\($0) is the same recording as \(chosen)" }
  }
}
