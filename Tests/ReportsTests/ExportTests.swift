import Symbolication
import Testing

@testable import Reports
@testable import TraceReader

/// Stacks as other tools read them.
@Suite struct ExportTests {
  private func folded(
    _ result: ReplayResult, _ value: ProfileValue,
    _ change: (inout CallTreeOptions) -> Void = { _ in }
  ) throws -> [String] {
    var options = CallTreeOptions()
    change(&options)
    return try FoldedStacks(
      result, source: SampleTrace().source, filter: SiteFilter(), value: value, options: options
    ).lines
  }

  @Test(
    arguments: [
      (.liveBytes, 1000, 60), (.liveBlocks, 1, 5), (.totalBytes, 5000, 180),
      (.totalBlocks, 5, 15), (.peakBytes, 2000, 60), (.peakBlocks, 2, 5),
    ] as [(ProfileValue, Int, Int)])
  func eachStackIsALineWithWhatIsCounted(value: ProfileValue, large: Int, small: Int) throws {
    #expect(
      try folded(SampleTrace.workedExample, value)
        == ["main;emit \(small)\n", "main;parse;make_node \(large)\n"])
  }

  @Test func stacksWithoutAnythingOfItAreLeftOut() throws {
    #expect(
      try folded(SampleTrace.workedExample, .temporaryBlocks) == ["main;parse;make_node 4\n"])
  }

  @Test func theTreesOptionsHold() throws {
    let result = SampleTrace.workedExample
    #expect(
      try folded(result, .liveBlocks) { $0.isInverted = true }
        == ["emit;main 5\n", "make_node;parse;main 1\n"])
    #expect(
      try folded(result, .liveBlocks) { $0.separatesThreads = true }
        == ["app (T1, tid 100);main;emit 5\n", "app (T1, tid 100);main;parse;make_node 1\n"])
  }

  /// Whatever a symbol is called, a line is one stack.
  @Test func namesCannotPartALine() throws {
    var sample = SampleTrace()
    sample.symbolicator = FakeSymbolicator()
    sample.symbolicator.add("a;b\nc", at: 0x1002)
    var result = ReplayResult()
    result.sites = [SampleTrace.site(stack: 2, size: 16, count: 1)]
    let stacks = try FoldedStacks(
      result, source: sample.source, filter: SiteFilter(), value: .liveBytes)
    #expect(stacks.lines == ["a:b\\nc 16\n"])
  }

  @Test func aFilterThatFitsNothingIsAnError() {
    var filter = SiteFilter()
    filter.responsible = "nobody"
    let (result, source) = (SampleTrace.workedExample, SampleTrace().source)
    #expect(throws: ReportError.self) {
      try FoldedStacks(result, source: source, filter: filter, value: .liveBytes)
    }
    #expect(throws: ReportError.self) { try PprofProfile(result, source: source, filter: filter) }
    var query = FlameGraph.Query()
    query.filter = filter
    #expect(throws: ReportError.self) { try FlameGraph(result, source: source, query: query) }
  }

  // MARK: pprof

  @Test func theProfileHasAllValuesOfEachStack() throws {
    let profile = try PprofProfile(
      SampleTrace.workedExample, source: SampleTrace().source, filter: SiteFilter())
    let fields = try WireFields(profile.bytes)
    let texts = fields.texts(6)
    #expect(texts.first == "")
    let types = try fields.messages(1).map {
      texts[try $0.number(1)] + "/" + texts[try $0.number(2)]
    }
    #expect(
      types == [
        "alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes",
        "peak_objects/count", "peak_space/bytes", "temporary_objects/count",
      ])
    let samples = try fields.messages(2)
    #expect(
      try samples.map { try $0.list(2) } == [
        [5, 5000, 1, 1000, 2, 2000, 4], [15, 180, 5, 60, 5, 60, 0],
      ])
    let functions = try fields.messages(5).map { texts[try $0.number(2)] }
    let lines = try fields.messages(4).map { try $0.messages(4).map { try $0.number(1) } }
    let stacks = try samples.map { sample in
      try sample.list(1).flatMap { lines[$0 - 1] }.map { functions[$0 - 1] }
    }
    #expect(stacks == [["make_node", "parse", "main"], ["emit", "main"]])
    let labels = try samples.map { sample in
      try sample.messages(3).map { texts[try $0.number(1)] + "=" + texts[try $0.number(2)] }
    }
    #expect(
      labels == [
        ["thread=app (T1, tid 100)", "type=Malloc-1008"],
        ["thread=app (T1, tid 100)", "type=Malloc-16"],
      ])
    #expect(texts[try fields.number(14)] == "inuse_space")
    #expect(try fields.number(10) == 2_000_000_000)
    #expect(try fields.list(13).map { texts[$0] } == ["./app --once"])
  }

  @Test func theProfileNamesFilesLinesAndImages() throws {
    let profile = try PprofProfile(
      SampleTrace.workedExample, source: SampleTrace().source, filter: SiteFilter(),
      shown: .totalBlocks)
    let fields = try WireFields(profile.bytes)
    let texts = fields.texts(6)
    let location = try #require(try fields.messages(4).first)
    let (line, image) = (try location.messages(4)[0], try fields.messages(3)[0])
    #expect(try line.number(2) == 5)
    #expect(try location.number(2) == image.number(1))
    #expect(try texts[image.number(5)] == "/opt/app/app")
    #expect(try location.number(3) < image.number(3))
    let function = try fields.messages(5)[0]
    #expect(try texts[function.number(4)] == "/src/node.c")
    #expect(texts[try fields.number(14)] == "alloc_objects")
  }

  /// Viewers take the first image for the program.
  @Test func theProgramIsTheFirstImage() throws {
    var result = ReplayResult()
    result.sites = [SampleTrace.site(stack: 6, size: 16, count: 1)]
    let profile = try PprofProfile(result, source: SampleTrace().source, filter: SiteFilter())
    let fields = try WireFields(profile.bytes)
    let texts = fields.texts(6)
    #expect(
      try fields.messages(3).map { texts[try $0.number(5)] }
        == ["/opt/app/app", "/usr/lib/x86_64-linux-gnu/libz.so.1"])
  }

  @Test func whatHasNoStackOrNoCallersSaysSo() throws {
    var result = ReplayResult()
    result.sites = [0, 7].map { SampleTrace.site(stack: $0, size: 16, count: 1) }
    let profile = try PprofProfile(
      result, source: SampleTrace().source, filter: SiteFilter())
    let texts = try WireFields(profile.bytes).texts(6)
    #expect(texts.contains("<no stack recorded>"))
    #expect(texts.contains("<callers not known>"))
  }

  // MARK: Flame graph

  private func graph(
    _ sample: SampleTrace, _ result: ReplayResult,
    _ change: (inout FlameGraph.Query) -> Void = { _ in }
  ) throws -> [String] {
    var query = FlameGraph.Query()
    change(&query)
    let page = try FlameGraph(result, source: sample.source, query: query).parts.joined()
    return page.split(separator: "\n").map(String.init)
  }

  @Test func thePageHoldsTheTreeWithAllValues() throws {
    let lines = try graph(SampleTrace(), SampleTrace.workedExample)
    #expect(lines.contains("const title = \"./app --once\";"))
    let functions = try #require(lines.firstIndex(of: "const functions = ["))
    #expect(
      lines[(functions + 1)...].prefix(5) == [
        #"["all", "", "marker"],"#, #"["main","app","user"],"#, #"["emit","app","user"],"#,
        #"["parse","app","user"],"#, #"["make_node","app","user"],"#,
      ])
    let nodes = try #require(lines.firstIndex(of: "const nodes = ["))
    #expect(
      lines[(nodes + 1)...].prefix(6) == [
        "[0,0,1060,6,5180,20,2060,7,4],", "[1,1,1060,6,5180,20,2060,7,4],",
        "[2,2,60,5,180,15,60,5,0],", "[2,3,1000,1,5000,5,2000,2,4],",
        "[3,4,1000,1,5000,5,2000,2,4],", "];",
      ])
  }

  @Test func smallBranchesAreLeftOut() throws {
    let all = try graph(SampleTrace(), SampleTrace.workedExample)
    let few = try graph(SampleTrace(), SampleTrace.workedExample) { $0.leastShare = 800 }
    #expect(all.filter { $0.contains("emit") }.count == 1)
    // It has three quarters of all blocks, and five of the six that live.
    #expect(few.filter { $0.contains("emit") }.count == 1)
    let fewer = try graph(SampleTrace(), SampleTrace.workedExample) { $0.leastShare = 900 }
    #expect(fewer.filter { $0.contains("emit") }.isEmpty)
    #expect(fewer.contains { $0.contains("make_node") })
  }

  @Test func noNameEndsTheScript() throws {
    var sample = SampleTrace()
    sample.symbolicator = FakeSymbolicator()
    sample.symbolicator.add("</script><b>\"\\", at: 0x1002)
    sample.summary.arguments = ["./a", "</script>"]
    var result = ReplayResult()
    result.sites = [SampleTrace.site(stack: 2, size: 16, count: 1)]
    let lines = try graph(sample, result)
    #expect(lines.filter { $0.contains("</script>") } == ["</script>"])
    #expect(lines.contains { $0.hasPrefix(#"["\u003c/script\u003e\u003cb\u003e\"\\","#) })
  }

  @Test func anEmptyTraceIsAPageWithoutBoxes() throws {
    let lines = try graph(SampleTrace(), ReplayResult())
    #expect(lines.contains("[0,0,0,0,0,0,0,0,0],"))
  }
}

/// The fields of a protocol buffer, for tests to look into.
private struct WireFields {
  struct Malformed: Error {}

  private var fields: [(number: Int, value: UInt64, bytes: [UInt8])] = []

  init(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let tag = try Self.varint(&rest)
      let value = try Self.varint(&rest)
      switch tag & 7 {
      case 0: fields.append((Int(tag >> 3), value, []))
      case 2:
        guard rest.count >= Int(value) else { throw Malformed() }
        fields.append((Int(tag >> 3), 0, Array(rest.prefix(Int(value)))))
        rest = rest.dropFirst(Int(value))
      default: throw Malformed()
      }
    }
  }

  private static func varint(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while let byte = rest.popFirst() {
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw Malformed()
  }

  /// 0 for a field that is not there.
  func number(_ field: Int) throws -> Int {
    Int(fields.first { $0.number == field }?.value ?? 0)
  }

  func list(_ field: Int) throws -> [Int] {
    var rest = fields.filter { $0.number == field }.flatMap(\.bytes)[...]
    var result: [Int] = []
    while !rest.isEmpty { result.append(Int(try Self.varint(&rest))) }
    return result
  }

  func texts(_ field: Int) -> [String] {
    fields.filter { $0.number == field }.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  func messages(_ field: Int) throws -> [WireFields] {
    try fields.filter { $0.number == field }.map { try WireFields($0.bytes) }
  }
}
