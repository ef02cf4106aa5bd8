import Reports
import Symbolication
import Testing
import TraceReader
import TraceTestSupport

@testable import LeakGate

/// A recording of a program that keeps some of what it maps.
private struct MappedProgram {
  private let file: TemporaryFile
  let trace: Trace
  let source: ReportSource

  /// - Parameters:
  ///   - kept: How many MiB of two that are mapped are there at the end.
  ///   - slabs: Besides, so many mappings of 64 KiB from another function.
  ///   - isRecorded: Whether the recorder looked at calls that map memory.
  /// - Throws: Where the trace cannot be written or read.
  init(kept: UInt64, slabs: UInt64 = 0, isRecorded: Bool = true) throws {
    var builder = TraceBuilder()
    let image = "/opt/app/app"
    builder.process(executable: image, arguments: ["./app"])
    builder.image(
      Image(
        index: 0, path: image, loadBias: 0x40_0000, start: Address(0x40_0000),
        end: Address(0x41_0000), textStart: Address(0x40_1000), textEnd: Address(0x40_2000)))
    builder.thread(1, tid: 4711, name: "app")
    let (main, slab) = (builder.stack([0x40_1000]), builder.stack([0x40_1100, 0x40_1000]))
    let mib: UInt64 = 1 << 20
    func call(
      _ function: MappingCall.Function, _ time: UInt64, ended: MappedRange = .empty,
      begun: MappedRange = .empty, protection: UInt32 = 3, stack: StackID
    ) {
      builder.mapping(
        MappingCall(
          function, endTime: EventTime(time), time: EventTime(time + 10), ended: ended,
          begun: begun, stack: stack, thread: ThreadIndex(1), protection: protection, flags: 0x22,
          path: ""))
    }
    if isRecorded {
      // Addresses that nobody may touch are no memory.
      call(.mmap, 100, begun: MappedRange(at: 1 << 40, length: 1 << 30), protection: 0, stack: main)
      call(.mmap, 200, begun: MappedRange(at: 1 << 32, length: 2 * mib), stack: main)
      for number in 0..<slabs {
        let range = MappedRange(at: 1 << 36 + number * mib, length: mib / 16)
        call(.mmap, 300 + 100 * number, begun: range, stack: slab)
      }
      let gone = MappedRange(at: 1 << 32 + kept * mib, length: (2 - kept) * mib)
      call(.munmap, 100_000, ended: gone, stack: main)
    }
    file = try builder.write()
    trace = try Trace(path: file.path)
    let symbolicator = FakeSymbolicator()
    symbolicator.add("main", at: 0x40_1000, file: "/src/app.c", line: 10, image: image)
    symbolicator.add("new_slab", at: 0x40_1100, file: "/src/app.c", line: 5, image: image)
    source = ReportSource(trace, file: "app.mtrace", symbolicator: symbolicator)
  }

  func measured(_ rules: [GateRule]) throws -> GateInput {
    var input = GateInput(today: day("2026-06-15"))
    input.rules = rules
    let measurer = ProcessMeasurer(needs: Set(rules.map(\.measure)))
    let (process, findings, _) = try measurer.measure(trace, source: source, file: nil)
    (input.processes, input.findings) = ([process], findings)
    return input
  }

  func profile(
    _ blocks: ComparedBlocks, by grouping: ComparisonGrouping = .function
  ) throws -> RunProfile {
    RunProfile(
      try trace.replay(blocks.request), mappings: trace.recordsMappings ? trace.mappings() : nil,
      source: source, grouping: grouping, blocks: blocks)
  }
}

@Suite struct MappedMeasureTests {
  private func judged(_ rule: String, _ program: MappedProgram) throws -> GateResult {
    GateResult(judging: try program.measured([GateRule(rule)]))
  }

  @Test(arguments: [
    ("mapped<=1MiB", true), ("mapped<=1048575B", false), ("mapped<=2", true),
    ("mapped<=1", false), ("mapped-peak<=2MiB", true), ("mapped-peak<=1MiB", false),
  ])
  func mappedMemoryHasLimits(rule: String, isKept: Bool) throws {
    let result = try judged(rule, MappedProgram(kept: 1))
    #expect(result.verdict == (isKept ? .pass : .fail))
    #expect(result.rules.map(\.isKept) == [isKept])
  }

  @Test func whatWasMeasuredIsSaid() throws {
    let bytes = try judged("mapped<=64KiB", MappedProgram(kept: 1)).rules[0]
    #expect(bytes.sentence(.human) == "1.00 MiB in mappings, at most 64.00 KiB allowed")
    let count = try judged("mapped<=1", MappedProgram(kept: 1)).rules[0]
    #expect(count.sentence(.human) == "2 mappings, at most 1 allowed")
    let peak = try judged("mapped-peak<=64KiB", MappedProgram(kept: 1)).rules[0]
    #expect(peak.sentence(.human) == "2.00 MiB, at most 64.00 KiB allowed")
  }

  @Test func aLimitMayBeRelativeToTheBaseline() throws {
    var input = try MappedProgram(kept: 1, slabs: 2).measured([
      GateRule("mapped<=+5%"), GateRule("mapped-peak<=+128KiB"),
    ])
    let old = try MappedProgram(kept: 1).measured(input.rules)
    let yaml = Baseline(renewing: Baseline(), findings: [], processes: old.processes).yaml
    #expect(
      yaml.contains(
        "    mapped: {count: 2, bytes: 1048576}\n    mapped-peak: {count: 0, bytes: 2097152}\n"))
    input.baseline = try Baseline(yaml: yaml, name: "baseline.yml")
    let result = GateResult(judging: input)
    #expect(result.rules.map(\.isKept) == [false, true])
    #expect(result.rules.map(\.value) == [1_179_648, 2_228_224])
    #expect(result.rules.map(\.most) == [1_101_004, 2_228_224])
  }

  @Test func whatWasNotRecordedProvesNothing() throws {
    let program = try MappedProgram(kept: 1, isRecorded: false)
    let result = try judged("mapped<=1MiB", program)
    #expect(result.verdict == .unmeasured)
    #expect(result.problems.first?.contains("record with --mappings") == true)
    #expect(try judged("peak<=1MiB", program).verdict == .pass)
  }

  @Test func recordingsAreComparedByWhatIsMapped() throws {
    let base = try MappedProgram(kept: 1), head = try MappedProgram(kept: 2, slabs: 3)
    let report = ComparisonReport(
      base: [try base.profile(.mapped)], head: [try head.profile(.mapped)],
      names: ("base.mtrace", "head.mtrace"), grouping: .function, blocks: .mapped,
      limits: [try GateRule("mapped>+1MiB", sign: ">")])
    var page = TextPage()
    report.write(to: &page)
    #expect(
      page.text == """
        base.mtrace → head.mtrace: mapped at end, by function

        Whole process    Before     After                Change
        memory-errors         0         0                     0
        unfreed             0 B       0 B                     0
        peak                0 B       0 B                     0
        allocations           0         0                     0
        mapped         1.00 MiB  2.19 MiB  +1.19 MiB (+118.8 %)
        mapped-peak    2.00 MiB  2.19 MiB   +192.0 KiB (+9.4 %)

        Change  Function      Bytes  More Bytes  #  More #
        grew    main       2.00 MiB   +1.00 MiB  2       0
        new     new_slab  192.0 KiB  +192.0 KiB  3      +3
                Total      2.19 MiB   +1.19 MiB  5      +3
        Failed: mapped>+1MiB: 2.19 MiB, at most 2.00 MiB allowed

        """)
  }

  @Test func mappingsAreNoBlocks() throws {
    let program = try MappedProgram(kept: 1)
    #expect(try program.profile(.total).rows.isEmpty)
    #expect(
      try program.profile(.mapped, by: .category).rows
        == [
          "VM: Anonymous VM": Amount(count: 1, bytes: 1 << 20),
          "VM: Reserved": Amount(count: 1),
        ])
    #expect(try program.profile(.mapped, by: .stack).rows["main"]?.count == 2)
    let other = try MappedProgram(kept: 1, isRecorded: false).profile(.total)
    #expect(other.measures[.mapped] == nil && other.measures[.mappedPeak] == nil)
  }
}
