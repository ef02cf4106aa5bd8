import Symbolication
import Testing
import TraceReader
import TraceTestSupport

@testable import Reports

/// Which release goes with which retain.
@Suite struct RefcountLedgerTests {
  private typealias Change = RefcountLedger.Change

  private func change(
    _ amount: Int64, _ functions: String..., manual: Bool = false, end: Bool = false,
    implied: Bool = false, line: Int? = nil
  ) -> RefcountLedger.Change {
    RefcountLedger.Change(
      amount: amount, functions: functions, line: line, isManual: manual, isByOwnersEnd: end,
      isImplied: implied)
  }

  @Test func aFunctionReleasesWhatItRetained() {
    let ledger = RefcountLedger(
      [
        change(1, "make", "main"), change(1, "a", "main"), change(1, "b", "main"),
        change(-1, "a", "main"), change(-1, "b", "main"), change(-1, "main"),
      ], isFreed: true)
    #expect(ledger.partners == [5, 3, 4, 1, 2, 0])
    #expect(ledger.unbalanced == [])
  }

  /// A function retains what it passes on for good, and what it needs for a moment only.
  @Test func whatALineRetainedForAMomentItReleases() {
    let ledger = RefcountLedger(
      [
        change(1, "run"), change(1, "run", line: 8), change(1, "run", line: 11),
        change(1, "run", line: 15), change(-1, "run", line: 11), change(-1, "run", line: 15),
        change(-1, "run", line: 19),
      ], isFreed: false)
    #expect(ledger.unbalanced == [0])
    #expect(ledger.partners == [nil, 6, 4, 5, 2, 3, 1])
  }

  /// What was retained by name on the line of another use is not what that use gives up.
  @Test func aLineDoesNotEndWhatItRetainedByName() {
    let ledger = RefcountLedger(
      [
        change(1, "run", line: 3), change(1, "run", manual: true, line: 4),
        change(-1, "run", line: 4),
      ], isFreed: false)
    #expect(ledger.unbalanced == [1])
  }

  @Test func theRetainOfACycleIsLeftOver() {
    let ledger = RefcountLedger(
      [change(1, "make", "main"), change(1, "adopt", "make", "main"), change(-1, "make", "main")],
      isFreed: false)
    #expect(ledger.unbalanced == [1])
    #expect(ledger.partners == [2, nil, 0])
  }

  /// The array that holds the object ends last, and its release is the one that crashes: but it is
  /// the one that goes with a reference.
  @Test func theReleaseWithoutAReferenceIsNamedNotTheLast() {
    let ledger = RefcountLedger(
      [
        change(1, "make", "run"), change(-1, "releaseTooOften", "run"),
        change(-1, "run", end: true),
      ], isFreed: true)
    #expect(ledger.unbalanced == [1])
    #expect(ledger.partners == [2, nil, 0])
  }

  /// At -Onone a deinitializer retains what it uses, although the object holds it.
  @Test func whatADeinitializerRetainsItReleasesBeforeItsProperty() {
    let ledger = RefcountLedger(
      [
        change(1, "run"), change(1, "keepExtra", "run", manual: true),
        change(1, "Node.init(_:)", "run"), change(1, "Node.deinit", "run"),
        change(-1, "Node.deinit", "run", end: true), change(-1, "Node.deinit", "run", end: true),
        change(-1, "run"),
      ], isFreed: false)
    #expect(ledger.unbalanced == [1])
    #expect(ledger.partners == [6, nil, 5, 4, 3, 2, 0])
  }

  /// Owners that are made and end in one function hold what that function retained for them.
  @Test func whatAnOwnerHeldGoesWithTheFunctionThatEndsIt() {
    let ledger = RefcountLedger(
      [
        change(1, "run"), change(1, "keepExtra", "run"), change(1, "run"),
        change(-1, "Node.deinit", "run", end: true), change(1, "run"),
        change(-1, "Node.deinit", "run", end: true), change(-1, "run"),
      ], isFreed: false)
    #expect(ledger.unbalanced == [1])
    #expect(ledger.partners == [5, nil, 3, 2, 6, 0, 4])
  }

  /// An array that a function fills and drops holds what that function retained for it.
  @Test func whatAContainerHeldGoesWithTheFunctionThatFilledIt() {
    let ledger = RefcountLedger(
      [
        change(1, "make", "main"), change(1, "keep", "main"), change(1, "fill", "main"),
        change(1, "fill", "main"), change(-1, "fill", "main", end: true),
        change(-1, "fill", "main", end: true),
      ], isFreed: false)
    #expect(ledger.unbalanced == [0, 1])
    #expect(ledger.partners == [nil, nil, 4, 5, 2, 3])
  }

  /// Of what it made itself a function may have given a container the first.
  @Test func whatAContainerHeldIsTheOldestOfItsFunction() {
    let ledger = RefcountLedger(
      [change(1, "run"), change(1, "run"), change(-1, "run", end: true)], isFreed: false)
    #expect(ledger.unbalanced == [1])
  }

  /// A registry whose one method takes back what another one has put there.
  @Test func aTypeGivesUpWhatItsMethodsHaveKept() {
    let ledger = RefcountLedger(
      [
        change(1, "make", "main"), change(1, "Cache.Entry.value.setter", "main"),
        change(1, "closure #1 in Cache.add(_:)", "Cache.add(_:)", "main"),
        change(1, "keep", "main"),
        change(-1, "static Cache.remove(_:)", "main"),
        change(-1, "Cache.deinit", "main", end: true),
      ], isFreed: false)
    #expect(ledger.unbalanced == [0, 3])
    #expect(ledger.partners == [nil, 5, 4, nil, 2, 1])
  }

  /// What lies in a type may hold less than the type.
  @Test func aNestedTypeGivesUpItsOwn() {
    let ledger = RefcountLedger(
      [change(1, "Cache.add(_:)"), change(1, "make"), change(-1, "Cache.Entry.clear()")],
      isFreed: false)
    #expect(ledger.unbalanced == [0])
  }

  @Test(arguments: [
    ("closure #1 in Cache.Entry.value.setter", ["Cache.Entry", "Cache"]),
    ("static Cache.add(_:)", ["Cache"]), ("Cache.init(size:)", ["Cache"]),
    ("Cache.add(_:) [merged]", ["Cache"]), ("Cache.deinit", ["Cache"]), ("main", []),
    ("value.getter", []), ("Parser::parse(int)", []), ("", []), ("(", []), ("..", []),
  ])
  func typesOfAFunction(function: String, types: [String]) {
    #expect(MethodOwner.types(of: function) == types)
  }

  /// A call at the end of a function may be a jump: then its caller is seen to release.
  @Test func aReleaseByACallerGoesWithTheNearestReference() {
    let ledger = RefcountLedger(
      [change(1, "make", "main"), change(1, "adopt", "make", "main"), change(-1, "main")],
      isFreed: false)
    #expect(ledger.unbalanced == [1])
  }

  @Test func whatWasReleasedByNameIsDoubtedFirst() {
    let ledger = RefcountLedger(
      [
        change(1, "run"), change(1, "use", "run"), change(-1, "use", "run", manual: true),
        change(-1, "use", "run"), change(-1, "run"),
      ], isFreed: true)
    #expect(ledger.unbalanced == [2])
  }

  @Test func retainedAndReleasedByName() {
    let ledger = RefcountLedger(
      [
        change(1, "run"), change(1, "open", "run", manual: true), change(-1, "run"),
        change(-1, "close", "run", manual: true),
      ], isFreed: true)
    #expect(ledger.partners == [2, 3, 0, 1])
  }

  /// A function ends what it owns by itself, and what it was asked to retain only when it is asked to.
  @Test func whatWasRetainedByNameIsLeftOver() {
    let ledger = RefcountLedger(
      [
        change(1, "run"), change(1, "run", manual: true), change(1, "run", manual: true),
        change(-1, "run"), change(-1, "run"),
      ], isFreed: false)
    #expect(ledger.unbalanced == [1])
    #expect(ledger.partners == [3, nil, 4, 0, 2])
  }

  @Test func severalReferencesAtOnce() {
    let ledger = RefcountLedger(
      [
        change(1, "run"), change(3, "a", "run"), change(-2, "a", "run"), change(-1, "a", "run"),
        change(-3, "b", "run"),
      ], isFreed: true)
    #expect(ledger.unpaired == [0, 0, 0, 0, 2])
    #expect(ledger.partners[1] == 2 && ledger.partners[3] == 1)
  }

  @Test func aWeakLoadGoesWithTheReleaseAfterIt() {
    let ledger = RefcountLedger(
      [change(1, "run"), change(1, implied: true), change(-1, "use", "run")], isFreed: false)
    #expect(ledger.partners == [nil, 2, 1])
    #expect(ledger.unbalanced == [0])
  }

  @Test func millionsOfChangesTakeNoLonger() {
    var changes = [change(1, "run")]
    for round in 0..<100_000 {
      changes.append(change(1, "f\(round % 100)", "run"))
      changes.append(change(-1, "f\(round % 100)", "run"))
    }
    #expect(RefcountLedger(changes, isFreed: false).unbalanced == [0])
  }
}

/// The history of objects of a trace made by hand.
@Suite struct RefcountHistoryTests {
  private let symbolicator = FakeSymbolicator()

  init() {
    for (name, address) in [("main", 0x1000), ("make", 0x1100), ("adopt", 0x1200), ("use", 0x1300)]
    { symbolicator.add(name, at: UInt64(address), image: "/opt/app/app") }
  }

  private func history(
    at address: UInt64 = 0x20_0000, top: Int? = nil, _ build: (inout TraceBuilder) -> Void
  ) throws -> HistoryReport {
    var builder = TraceBuilder()
    builder.image(
      Image(
        index: 0, path: "/opt/app/app", loadBias: 0, start: Address(0x1000), end: Address(0x9000),
        textStart: Address(0x1000), textEnd: Address(0x2000)))
    builder.thread(1, tid: 7, name: "app")
    build(&builder)
    let file = try builder.write()
    return try withExtendedLifetime(file) {
      let trace = try Trace(path: file.path)
      let source = ReportSource(trace, file: "app.mtrace", symbolicator: symbolicator)
      return try HistoryReport(trace, address: Address(address), source: source, top: top)
    }
  }

  @Test func countsAndPairs() throws {
    let report = try history { trace in
      let (make, adopt, use) = (
        trace.stack([0x1100, 0x1000]), trace.stack([0x1200, 0x1100, 0x1000]),
        trace.stack([0x1300, 0x1000])
      )
      trace.allocate(0x20_0000, 32, stack: make, time: 2000)
      trace.count(.retain, 0x20_0000, count: 1, stack: adopt, time: 2010)
      trace.count(.release, 0x20_0000, count: 2, stack: make, time: 2020)
      // A weak reference was loaded.
      trace.count(.release, 0x20_0000, count: 2, stack: use, time: 2030)
      // Another object.
      trace.count(.retain, 0x20_0040, count: 1, stack: use, time: 2040)
    }
    #expect(
      report.entries.map(\.eventType) == ["malloc", "retain", "release", "retain", "release"])
    #expect(report.entries.map { $0.refcount?.count } == [1, 2, 1, 2, 1])
    #expect(report.entries.map { $0.refcount?.partner } == [2, nil, 0, 4, 3])
    #expect(report.entries.map { $0.refcount?.isImplied } == [false, false, false, true, false])
    #expect(report.unbalanced == [1])
    #expect(report.text().contains("1. retain by adopt  app: never released"))
  }

  /// What is never released is often long ago.
  @Test func whatIsUnbalancedIsToldInFrontOfTheLastEventsToo() throws {
    let report = try history(top: 2) { trace in
      let (make, adopt, use) = (
        trace.stack([0x1100, 0x1000]), trace.stack([0x1200, 0x1100, 0x1000]),
        trace.stack([0x1300, 0x1000])
      )
      let elsewhere = trace.stack([0x1200, 0x1300, 0x1000])
      trace.allocate(0x20_0000, 32, stack: make, time: 2000)
      for (time, stack) in [adopt, adopt, elsewhere].enumerated() {
        let count = UInt64(time + 1)
        trace.count(.retain, 0x20_0000, count: count, stack: stack, time: 2010 + count)
      }
      for time in 0..<4 {
        let time = UInt64(2020 + 2 * time)
        trace.count(.retain, 0x20_0000, count: 4, stack: use, time: time)
        trace.count(.release, 0x20_0000, count: 5, stack: use, time: time + 1)
      }
      trace.count(.release, 0x20_0000, count: 4, stack: make, time: 2040)
    }
    #expect(report.entryCount == 13 && report.entries.count == 2)
    #expect(report.unbalanced == [1, 2, 3])
    #expect(report.imbalances.map(\.first) == [1, 3])
    #expect(report.imbalances.map(\.last) == [2, 3])
    #expect(report.imbalances.map(\.count) == [2, 1])
    #expect(report.imbalances.map(\.entry.eventType) == ["retain", "retain"])
    #expect(
      report.text().contains(
        "Unbalanced\n  1. retain by adopt  app: never released; 3 times, last at 3\n"))
    let json = try ReportWriter(format: .json).output(of: report)
    #expect(json.contains("\"imbalances\" : ["))
  }

  @Test func theReleaseOfAFreedObject() throws {
    let report = try history { trace in
      let (make, use) = (trace.stack([0x1100, 0x1000]), trace.stack([0x1300, 0x1000]))
      trace.allocate(0x20_0000, 32, stack: make, time: 2000)
      trace.count(.release, 0x20_0000, count: 1, stack: use, time: 2010)
      trace.free(0x20_0000, stack: use, time: 2011)
      trace.count(.release, 0x20_0000, count: 4711, stack: make, time: 2020)
      // The next object there is innocent.
      trace.allocate(0x20_0000, 32, stack: make, time: 2030)
      trace.count(.release, 0x20_0000, count: 1, stack: make, time: 2040)
      trace.free(0x20_0000, stack: make, time: 2041)
    }
    #expect(report.unbalanced == [1])
    #expect(report.entries.map { $0.refcount?.count } == [1, 0, nil, nil, 1, 0, nil])
    #expect(report.entries.map(\.isUnexpected) == [false, false, false, true, false, false, false])
    #expect(report.text().contains("1. release by use  app: no retain goes with it"))
  }

  /// What lies there meanwhile is not what is released.
  @Test func aFreedObjectKeepsItsCategory() throws {
    let report = try history { trace in
      let (make, use) = (trace.stack([0x1100, 0x1000]), trace.stack([0x1300, 0x1000]))
      trace.allocate(0x20_0000, 32, stack: make, time: 2000)
      trace.count(.release, 0x20_0000, count: 1, stack: use, time: 2010)
      trace.free(0x20_0000, stack: use, time: 2011)
      trace.allocate(0x20_0000, 48, stack: make, time: 2011)
      trace.count(.release, 0x20_0000, count: .max, stack: make, time: 2020)
    }
    #expect(report.entries.map(\.eventType) == ["malloc", "release", "free", "malloc", "release"])
    #expect(
      report.entries.map { $0.category?.name }
        == ["Malloc-32", "Malloc-32", "Malloc-32", "Malloc-48", "Malloc-32"])
  }

  /// Each sees the count before or after the other's change.
  @Test func threadsThatMeetAreNoImpliedChanges() throws {
    let report = try history { trace in
      let use = trace.stack([0x1300, 0x1000])
      trace.allocate(0x20_0000, 32, stack: use, time: 2000)
      trace.count(.retain, 0x20_0000, count: 1, stack: use, thread: 1, time: 2010)
      trace.count(.retain, 0x20_0000, count: 1, stack: use, thread: 2, time: 2011)
      trace.count(.release, 0x20_0000, count: 3, stack: use, thread: 1, time: 2020)
      trace.count(.release, 0x20_0000, count: 2, stack: use, thread: 2, time: 2030)
    }
    #expect(!report.entries.contains { $0.refcount?.isImplied ?? false })
    #expect(report.unbalanced == [0])
  }

  @Test func anObjectWithoutABlock() throws {
    let report = try history { trace in
      let use = trace.stack([0x1300, 0x1000])
      trace.count(.retain, 0x20_0000, count: 1, stack: use, time: 2010)
      trace.count(.release, 0x20_0000, count: 2, stack: use, time: 2020)
    }
    #expect(report.entries.map { $0.refcount?.partner } == [1, 0])
  }
}
