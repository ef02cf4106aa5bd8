import Testing

@testable import Reports
@testable import TraceReader

@Suite struct UnfreedReportTests {
  /// Two addresses of one line, another line of the same function, another caller of the first, and a
  /// function without lines.
  private func recording() throws -> LeakRecording {
    let (heap, main): (UInt64, UInt64) = (LeakRecording.heap, 0x40_1000)
    let recording = try LeakRecording { builder in
      let stacks = [
        builder.stack([0x40_1110, main]), builder.stack([0x40_1114, main]),
        builder.stack([0x40_1120, main]), builder.stack([0x40_1110, 0x40_1130, main]),
        builder.stack([0x40_1140, main]), builder.stack([0x40_1148, main]),
      ]
      for (index, stack) in stacks.enumerated() {
        builder.allocate(heap + 0x2010 + UInt64(index) * 64, 24, stack: stack, time: 60_000_000)
      }
    }
    recording.symbolicator.add("makeNode", at: 0x40_1110, file: "/src/node.c", line: 21)
    recording.symbolicator.add("makeNode", at: 0x40_1114, file: "/src/node.c", line: 21)
    recording.symbolicator.add("makeNode", at: 0x40_1120, file: "/src/node.c", line: 22)
    recording.symbolicator.add("grow", at: 0x40_1130, file: "/src/node.c", line: 30)
    recording.symbolicator.add("exported", at: 0x40_1140)
    recording.symbolicator.add("exported", at: 0x40_1148)
    return recording
  }

  @Test func stacksThatReadTheSameAreOneGroup() throws {
    let recording = try recording()
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    let result = try recording.trace.replay(options)
    let report = try UnfreedReport(result, source: recording.source, query: UnfreedQuery())
    let groups = report.groups.filter { $0.responsible?.name == "makeNode" }
    #expect(groups.map(\.count).sorted() == [1, 1, 2])
    #expect(groups.first?.sizes.map(\.size) == [24])
    #expect(groups.map(\.bytes).reduce(0, +) == 96)
  }

  @Test func theOnePageAddsUpWhatOnePlaceAllocates() throws {
    let recording = try recording()
    var options = ReplayOptions()
    options.keepsLiveBlocks = true
    let result = try recording.trace.replay(options)
    let places = UnfreedPlace.find(result, source: recording.source)
      .filter { $0.responsible?.name == "makeNode" }
    #expect(places.map(\.responsible?.line) == [21, 22])
    #expect(places.map(\.bytes) == [72, 24])
    #expect(places.map(\.count) == [3, 1])
    #expect(places.map(\.stackCount) == [3, 1])
    let exported = UnfreedPlace.find(result, source: recording.source)
      .filter { $0.responsible?.name == "exported" }
    #expect(exported.map(\.count) == [2])
    #expect(places.allSatisfy { $0.bytesMargin == nil && $0.countMargin == nil })
  }
}
