import Reports
import Symbolication
import TraceReader

/// What a trace does not hold, as far as a rule's figure depends on it.
enum RecordingGaps {
  /// Why the figures of a trace cannot be relied on.
  ///
  /// - Parameters:
  ///   - coverage: What the trace does not hold.
  ///   - needs: What the rules ask for.
  ///   - chooses: Whether the rules apply to a program.
  /// - Returns: One sentence each.
  static func problems(
    in coverage: Coverage, needs: Set<Measure>, chooses: (String) -> Bool
  ) -> [String] {
    var problems: [String] = []
    if let stop = coverage.stop {
      problems.append("recording stopped before the end: \(stop.text)")
    }
    let lost = coverage.eventsDropped &+ coverage.nestedEventsLost
    if lost > 0 { problems.append("\(CountText.of(lost, "event", .was)) not recorded") }
    if coverage.threadsLost > 0 {
      problems.append("\(CountText.of(coverage.threadsLost, "thread", .was)) not recorded")
    }
    if coverage.damageCount > 0 {
      problems.append("the trace is damaged in \(CountText.of(coverage.damageCount, "place"))")
    }
    if coverage.missingBytes > 0 {
      problems.append(
        "the trace was cut: \(CountText.of(coverage.missingBytes, "byte", .is)) missing")
    }
    if coverage.sampleInterval > 0, !needs.isDisjoint(with: [.unfreed, .peak, .allocations]) {
      problems.append("the recording is a sample: its figures are estimates")
    }
    if coverage.isPausable {
      problems.append("the recording had pauses: what was allocated then is not in its figures")
    }
    problems += BypassText.byImage(coverage.bypassed).map {
      "an allocator bypasses the recorder: \($0)"
    }
    return problems + unrecordedChildren(in: coverage, chooses: chooses)
  }

  /// That mapped memory has a limit, but was not recorded.
  static func missingMappings(of trace: Trace, needs: Set<Measure>) -> [String] {
    trace.recordsMappings || needs.isDisjoint(with: Measure.ofMappings)
      ? [] : [MappedSum.notRecordedText]
  }

  /// Those that libraries have for themselves: the figures of the program stand.
  static func libraryAllocators(of trace: Trace) -> [String] {
    RecordedExecutable.libraryFindings(of: trace).filter { !$0.isAllocatorOfPython }
      .map { "\($0.path) \($0.reason)" }
  }

  /// The allocators in the executable whose blocks the figures leave out.
  static func unseenAllocators(of trace: Trace) -> [String] {
    RecordedExecutable.unseenAllocators(of: trace).map {
      let how = $0.canBeRecorded ? "; --bundled-allocator records it" : ""
      return "an allocator in the program is not recorded: \($0.name)\(how)"
    }
  }

  /// The child processes that the rules apply to and that were not recorded: they have no trace, so
  /// that only their parent tells of them, whether the rules apply to it or not.
  static func unrecordedChildren(
    in coverage: Coverage, chooses: (String) -> Bool
  ) -> [String] {
    // `path: reason`
    let children = coverage.childrenNotFollowed.filter { entry in
      chooses(entry.firstRange(of: ": ").map { String(entry[..<$0.lowerBound]) } ?? entry)
    }
    var problems = children.map { "a child process was not recorded: \($0)" }
    let unnamed = coverage.childrenNotFollowedCount &- UInt64(coverage.childrenNotFollowed.count)
    // The recorder says of forks once that they have no traces.
    if !coverage.forksAreNotFollowed,
      coverage.childrenNotFollowedCount > UInt64(coverage.childrenNotFollowed.count)
    {
      problems.append(
        "\(unnamed) more child \(unnamed == 1 ? "process was" : "processes were") not recorded")
    }
    return problems
  }
}
