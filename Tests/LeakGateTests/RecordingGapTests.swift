import Testing
import TraceReader

@testable import LeakGate

@Suite struct RecordingGapTests {
  private static func problems(_ coverage: Coverage, chosen: String) -> [String] {
    RecordingGaps.unrecordedChildren(in: coverage) { $0 == chosen }
  }

  @Test func childrenThatNobodyNamesAreMissing() {
    var coverage = Coverage()
    coverage.childrenNotFollowed = ["/bin/busybox: statically linked"]
    coverage.childrenNotFollowedCount = 3
    #expect(
      Self.problems(coverage, chosen: "/bin/busybox") == [
        "a child process was not recorded: /bin/busybox: statically linked",
        "2 more child processes were not recorded",
      ])
  }

  @Test func functionsThatAreBypassedHaveTheirNamesInSources() {
    var coverage = Coverage()
    coverage.bypassed = ["_ZdlPv: ./app"]
    #expect(
      RecordingGaps.problems(in: coverage, needs: []) { _ in true }
        == ["an allocator bypasses the recorder: operator delete(void*) of ./app"])
  }

  /// What leaked then would not be seen.
  @Test func aRecordingWithPausesIsNoMeasurement() {
    var coverage = Coverage()
    coverage.isPausable = true
    #expect(
      RecordingGaps.problems(in: coverage, needs: []) { _ in true }
        == ["the recording had pauses: what was allocated then is not in its figures"])
  }

  /// Of the forks of a server the first has a note.
  @Test func theNoteOnForksStandsForAll() {
    var coverage = Coverage()
    coverage.childrenNotFollowed = ["/bin/server: its forks cannot write traces"]
    coverage.childrenNotFollowedCount = 3
    coverage.forksAreNotFollowed = true
    #expect(Self.problems(coverage, chosen: "/bin/server").count == 1)
    #expect(Self.problems(coverage, chosen: "/bin/other").isEmpty)
  }
}
