import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

@Suite struct MappingsReportTests {
  private let recording: MappingRecording

  init() throws { recording = try MappingRecording() }

  private func report(_ change: (inout MappingsQuery) -> Void = { _ in }) throws -> MappingsReport {
    var query = MappingsQuery()
    change(&query)
    return try MappingsReport(recording.trace, source: recording.source, query: query)
  }

  @Test func theKinds() throws {
    try expectForms(report(), "mappings")
  }

  @Test func theStacks() throws {
    try expectForms(report { $0.grouping = .stack }, "mappings-stacks")
  }

  @Test func theSingleMappings() throws {
    try expectForms(report { $0.grouping = .mapping }, "mappings-single")
  }

  @Test func theSums() throws {
    let report = try report()
    #expect(report.total.persistentBytes == 1 << 30 + 5 << 19 + 8192 + 65536)
    #expect(report.total.persistentCount == 6)
    #expect(report.total.transientCount == 1)
    #expect(report.reservedBytes == 1 << 30 - 4 << 20)
    #expect(report.peakBytes == 8 << 20 + 8192 + 65536)
    #expect(report.foreignBytes == 4096)
  }

  @Test func aNarrowTableDoesWithoutColumns() throws {
    let table = try report().text(width: 60).split(separator: "\n").drop {
      !$0.hasPrefix("Category")
    }
    #expect(table.allSatisfy { $0.count <= 60 })
    #expect(!(try report().text(width: 60).contains("Transient")))
    #expect(try report().text(width: 100).contains("# Transient"))
  }

  @Test func theTimelineGoesToTheEnd() throws {
    let timeline = try report().timeline
    #expect(timeline.peak.bytes == 8 << 20 + 8192 + 65536)
    #expect(timeline.peak.count == 7)
    #expect(timeline.startNanoseconds == 0)
    let at = { (milliseconds: UInt64) in
      timeline.liveBytes[Int(milliseconds * 1_000_000 / timeline.bucketNanoseconds)]
    }
    // Reserved addresses count from when they can be touched.
    #expect([5, 12, 17, 45, 89].map(at) == [0, 0, 4 << 20, 8_462_336, 6_889_472])
    let early = try report { $0.liveAt = LiveMoment("17ms") }
    #expect(early.timeline.liveBytes.max() == 4 << 20)
    #expect(early.timeline.peak.count == 1)
  }

  @Test func theTrackIsOfAllMappings() throws {
    #expect(try report().text().contains("\nMapped bytes  "))
    #expect(try report { $0.lifespan = .persistent }.text().contains("\nAll mapped bytes  "))
  }

  @Test func filesAndFunctionsAreAddedUp() throws {
    let files = try report { $0.grouping = .file }
    #expect(
      files.rows.map(\.name) == [
        "VM: Anonymous VM", "/memfd:ring (deleted)", "/usr/share/app/names.db",
      ])
    let functions = try report { $0.grouping = .function }
    #expect(functions.rows.map(\.name) == ["main  app", "new_slab  app", "<no stack recorded>"])
    #expect(functions.rows.map(\.tally.totalCount) == [2, 4, 1])
  }

  @Test func theStateIsThatOfTheMoment() throws {
    let marked = try report {
      $0.liveAt = LiveMoment("loaded")
      $0.moment = "loaded"
    }
    #expect(marked.total.transientCount == 0)
    #expect(marked.text().hasPrefix("Mapped memory of ./app (pid 4711), as of loaded\n"))
    let peak = try report { $0.liveAt = .peak }
    #expect(peak.total.persistentBytes - peak.reservedBytes == peak.peakBytes)
    #expect(throws: ReportError.self) { try report { $0.liveAt = LiveMoment("nowhere") } }
  }

  @Test func onlyThoseOfOneLifespan() throws {
    let gone = try report { $0.lifespan = .transient }
    #expect(gone.total.totalCount == 1)
    #expect(gone.text().contains("1.00 MiB was mapped in 1 mapping, and unmapped."))
    let left = try report { $0.lifespan = .persistent }
    #expect(left.total.totalCount == 6)
  }

  @Test func whereNoneAreRecordedThatIsSaid() throws {
    let other = try SampleRecording()
    let error = #expect(throws: ReportError.self) {
      try MappingsReport(other.trace, source: other.source, query: MappingsQuery())
    }
    #expect(error?.description.contains("record with --mappings") == true)
    #expect(MappedSum(other.trace) == nil)
  }

  @Test func theOnePageReportHasTheSum() throws {
    let result = try recording.trace.replay(ReplayRequest(), keepsLiveBlocks: true)
    var source = recording.source
    source.trace.peakResidentBytes = 1 << 30
    let report = try OverviewReport(
      result, mapped: MappedSum(recording.trace), source: source)
    #expect(report.nextCommands.allSatisfy { !$0.command.contains("mappings --") })
    #expect(
      report.text().contains(
        "Mapped by the program itself: 6.57 MiB in 6 mappings, peak 8.07 MiB, "
          + "besides 1020.0 MiB of reserved addresses\n"))
    #expect(report.nextCommands.map(\.command).contains("memtrace mappings app.mtrace"))
  }

  @Test func theDumpHasTheCalls() throws {
    var text = ""
    try TraceDump(recording.trace, kinds: [.mapping]).write {
      text += $0
      return true
    }
    let lines = text.split(separator: "\n")
    #expect(lines.count == 11)
    #expect(
      lines[6]
        == "MAPPING call=mmap called=30000000 time=30005000 thread=1 address=0x50000000 length=8192 "
        + "protection=1 flags=2 path=\"/usr/share/app/names.db\" offset=0 stack=2")
  }
}
