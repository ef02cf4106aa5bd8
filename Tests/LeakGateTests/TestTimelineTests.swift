import Reports
import Testing
import TraceReader

@testable import LeakGate

@Suite struct TestTimelineTests {
  /// Marks at nanoseconds.
  private func timeline(_ marks: [(UInt64, String)]) -> TestTimeline {
    TestTimeline(
      marks.map { Mark(time: EventTime($0.0), thread: ThreadIndex(1), name: $0.1) },
      clock: TraceClock(header: TraceHeader()))
  }

  private let frames = [frame("makeList"), frame("main")]

  @Test func theTestThatRanAloneIsNamed() {
    let tests = timeline([
      (10, "test began: A/one"), (20, "test ended: A/one"), (30, "another mark"),
      (40, "test began: A/two"),
    ])
    #expect(tests.evidence(frames, at: [5]).isEmpty)
    #expect(tests.evidence(frames, at: [15]).alone == ["A/one"])
    #expect(tests.evidence(frames, at: [25]).isEmpty)
    // Without an end it ran until the process ended.
    #expect(tests.evidence(frames, at: [50, 15]).alone == ["A/one", "A/two"])
    #expect(tests.evidence(frames, at: [50, 15, 60]).alone == ["A/two", "A/one"])
    #expect(tests.evidence(frames, at: [50]).text == "while the test A/two ran")
  }

  @Test func testsSideBySideAreCandidates() {
    let tests = timeline([
      (10, "test began: A"), (20, "test began: B"), (30, "test ended: A"), (40, "test ended: B"),
    ])
    #expect(tests.evidence(frames, at: [15]).alone == ["A"])
    let both = tests.evidence(frames, at: [25])
    #expect(both.candidates == ["A", "B"])
    #expect(both.alone.isEmpty)
    #expect(both.text == "while the tests A, B ran at the same time")
    let more = timeline([
      (10, "test began: A"), (20, "test began: B"), (30, "test ended: A"), (31, "test began: C"),
    ])
    #expect(more.evidence(frames, at: [25, 35, 36]).candidates == ["B", "C", "A"])
    #expect(tests.evidence(frames, at: [35]).alone == ["B"])
  }

  @Test func casesOfOneTestAreOneTest() {
    let tests = timeline([
      (10, "test began: A"), (11, "test began: A"), (20, "test ended: A"), (30, "test ended: A"),
    ])
    #expect(tests.evidence(frames, at: [15]).alone == ["A"])
    #expect(tests.evidence(frames, at: [25]).alone == ["A"])
    #expect(tests.evidence(frames, at: [35]).isEmpty)
  }

  @Test(arguments: [
    "App.ListTests.Inner.grows(by: Swift.Int) async throws -> ()",
    "closure #1 () -> () in App.ListTests.Inner.grows(by: Swift.Int) async throws -> ()",
    "(2) await resume partial function for App.ListTests.Inner.grows(by: Swift.Int) async -> ()",
  ])
  func theFunctionOnTheStackIsBetterThanTheTime(name: String) {
    let tests = timeline([
      (10, "test began: App.ListTests/Inner/grows(by:)"), (11, "test began: App.ListTests/other()"),
    ])
    let stack = [
      frame("makeList"), ReportFrame(name: "grows(by:)", fullName: name), frame("main"),
    ]
    let evidence = tests.evidence(stack, at: [15])
    #expect(evidence.onStack == ["App.ListTests/Inner/grows(by:)"])
    #expect(evidence.candidates.isEmpty)
    #expect(evidence.text == "in the test App.ListTests/Inner/grows(by:)")
  }

  /// It is none of those with marks that ran meanwhile.
  @Test(arguments: [
    (
      "Suite.Inner.grows(by:)", "App.Suite.Inner.grows(by: Swift.Int) -> ()",
      "__local of @Test grows in static Suite.Inner.@Test grows", "App.Suite/Inner/grows(by:)"
    ),
    (
      "shrinks()", "App.shrinks() throws -> ()", "__local of @Test shrinks in @Test shrinks",
      "App.shrinks()"
    ),
    (
      "Suite.`adds. 1/2`()", "App.(Suite in _2A).`adds. 1/2`() -> ()",
      "static Suite.@Test `adds. 1/2`", "App.Suite/`adds. 1/2`()"
    ),
    (
      "OldTests.testGrowth()", "App.OldTests.testGrowth() throws -> ()",
      "implicit closure #2 in initial value of static OldTests.__allTests__OldTests",
      "App.OldTests/testGrowth"
    ),
  ])
  func aTestWithoutMarksIsNamedByItsHarness(
    short: String, full: String, caller: String, test: String
  ) {
    let stack = [
      frame("makeList"), ReportFrame(name: short, fullName: full), frame(caller), frame("main"),
    ]
    #expect(timeline([]).evidence(stack, at: [15]).onStack == [test])
    let tests = timeline([(10, "test began: App.Suite/other()")])
    #expect(tests.evidence(stack, at: [15]).onStack == [test])
    #expect(tests.evidence([frame(caller)], at: [15]).alone == ["App.Suite/other()"])
  }

  @Test(arguments: [
    ("helper(_:) in Suite.grows()", "helper #1 (Swift.Int) -> () in App.Suite.grows() -> ()"),
    ("Suite.grows()", "(extension in App):Lib.Suite.grows() -> ()"),
  ])
  func aHarnessThatCallsSomethingElseTellsNothing(short: String, full: String) {
    let stack = [ReportFrame(name: short, fullName: full), frame("static Suite.@Test grows")]
    #expect(timeline([]).evidence(stack, at: [15]).isEmpty)
  }

  @Test(arguments: [
    ("`adds 1/2 (quickly)`()", "App.`My Suite. of (things)`.`adds 1/2 (quickly)`() async -> ()"),
    ("`adds 1/2`(_:)", "closure #1 () in App.`My Suite. of (things)`.`adds 1/2`(Swift.Int) -> ()"),
    ("plain()", "App.`My Suite. of (things)`.plain() -> ()"),
  ])
  func namesInBackticksHaveAnyCharacters(test: String, function: String) {
    let name = "App.`My Suite. of (things)`/\(test)"
    let tests = timeline([
      (10, "test began: \(name)"),
      (11, "test began: App.`My Suite. of (things)`/`adds (slowly)`()"),
    ])
    let stack = [frame("makeList"), ReportFrame(name: "test", fullName: function), frame("main")]
    #expect(tests.evidence(stack, at: [15]).onStack == [name])
  }

  @Test func overloadsAreToldApartByTheTimeOnly() {
    let tests = timeline([
      (10, "test began: App.T/f(a:)"), (20, "test ended: App.T/f(a:)"),
      (30, "test began: App.T/f(b:)"),
    ])
    let stack = [ReportFrame(name: "f", fullName: "App.T.f(b: Swift.Int) -> ()")]
    #expect(tests.evidence(stack, at: [35]).alone == ["App.T/f(b:)"])
    #expect(tests.evidence(stack, at: [35]).onStack.isEmpty)
  }

  @Test func manyTestsMakeAShortList() {
    let tests = timeline((0..<500).map { (UInt64($0), "test began: T\($0)") })
    let evidence = tests.evidence(frames, at: [1000])
    #expect(evidence.candidates.count == TestEvidence.limit)
    #expect(evidence.text == "while the tests T0, T1, T2 and 13 more ran at the same time")
  }

  @Test func endsWithoutBeginningsTellNothing() {
    let tests = timeline([(10, "test ended: A"), (20, "test began: A"), (30, "test ended: A")])
    #expect(tests.evidence(frames, at: [15]).isEmpty)
    #expect(tests.evidence(frames, at: [25]).alone == ["A"])
  }
}
