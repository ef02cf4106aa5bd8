import Testing
import TraceReader

/// What forked children have of their parents' memory, and have not written to, is not looked at
/// where no block of theirs can be held by it.
@Suite(.serialized) struct InheritedPagesTests {
  private static let inherited: UInt64 = 2000 * 20000

  /// Runs the program, and returns what its child leaked and how much of its memory was looked at.
  private func child(_ way: String) throws -> (leaked: [UInt64], looked: UInt64) {
    let run = try TracedRun([try TestProgram("inherited_pages.c").path.string, way])
    #expect(run.recorded.status == 3)
    let forked = try run.traces.map { try Trace(path: $0) }.filter {
      $0.header.flags.contains(.forked) && $0.ending == .exit(3)
    }
    try #require(forked.count == 1)
    let info = try #require(forked[0].snapshots.first)
    #expect(info.isComplete)
    let report = try LeakedProgram(forked[0]).report
    #expect(report.possibleRows.isEmpty)
    return (report.rows.map { UInt64($0.bytes) }, info.scannedBytes)
  }

  @Test func areNotLookedAt() throws {
    let child = try child("own")
    #expect(child.leaked == [21002])
    #expect(child.looked < Self.inherited / 4)
  }

  /// Nobody has to store the address of a block again that a realloc left where it was.
  @Test func areLookedAtWhereInheritedBlocksWereResized() throws {
    let child = try child("resized")
    #expect(child.leaked == [21002])
    #expect(child.looked > Self.inherited)
  }

  /// Pages that the process has written to look inherited while a child of its own has them.
  @Test func areLookedAtWhereOthersHaveOwnPages() throws {
    let child = try child("shared")
    #expect(child.leaked == [21002])
    #expect(child.looked > Self.inherited)
  }
}
