import Reports
import Testing
import TraceReader

@testable import LeakGate

@Suite struct VerdictTests {
  struct Case: Sendable {
    var host: Int32?
    var findings: [Finding] = []
    var problems: [String] = []
    var status: Int32
  }

  private static let cases = [
    Case(host: nil, status: 0),
    Case(host: 0, status: 0),
    Case(host: 0, findings: [leak()], status: 86),
    Case(host: 3, findings: [leak()], status: 3),
    Case(host: 3, status: 3),
    Case(host: 139, problems: ["killed"], status: 139),
    Case(host: 0, problems: ["killed"], status: 87),
    Case(host: nil, findings: [leak()], problems: ["killed"], status: 86),
  ]

  @Test(arguments: cases)
  func theStatusTellsWhatFailed(_ run: Case) {
    var input = input(run.findings, processes: [checked(problems: run.problems)])
    input.hostStatus = run.host
    #expect(GateResult(judging: input).exitStatus == run.status)
  }

  @Test func nothingMeasuredProvesNothing() {
    let none = GateResult(judging: input(processes: []))
    #expect((none.verdict, none.exitStatus) == (.unmeasured, 87))
    #expect(none.problems == ["nothing was recorded"])
    var other = checked()
    (other.isChosen, other.measures) = (false, nil)
    var unchosen = input(processes: [other])
    unchosen.failsOnUnmeasured = false
    let result = GateResult(judging: unchosen)
    #expect(result.exitStatus == 87)
    #expect(result.problems == ["no process was chosen among: app"])
  }

  /// `swift build`: the driver replaces itself by a program that is not recorded.
  @Test func processesThatAreReplacedProveNothingAlone() {
    var replaced = checked()
    replaced.ending = EndingSummary(.exec)
    let alone = GateResult(judging: input(processes: [replaced]))
    #expect((alone.verdict, alone.exitStatus) == (.unmeasured, 87))
    #expect(
      alone.problems == [
        "leaks were not looked for: what replaced the checked process is not checked itself; "
          + "--process chooses programs"
      ])
    #expect(GateResult(judging: input(processes: [replaced, checked()])).verdict == .pass)
    var figures = input(processes: [replaced])
    figures.rules = figures.rules.filter { $0.measure == .memoryErrors }
    #expect(GateResult(judging: figures).verdict == .pass)
  }

  @Test func unmeasuredProcessesCanBeAllowed() {
    var input = input(processes: [checked(problems: ["killed"])])
    input.failsOnUnmeasured = false
    let result = GateResult(judging: input)
    #expect((result.verdict, result.exitStatus) == (.pass, 0))
    #expect(result.problems == ["app (pid 7): killed"])
  }

  @Test func theBaselineToleratesUpToItsBudget() {
    var input = input([leak()])
    input.baseline = Baseline(renewing: Baseline(), findings: [leak()], processes: [])
    #expect(GateResult(judging: input).findings.map(\.state) == [.baselined])
    #expect(GateResult(judging: input).exitStatus == 0)
    input.findings = [leak(count: 4, bytes: 48)]
    let grown = GateResult(judging: input)
    #expect(grown.findings.map(\.state) == [.grown])
    #expect(grown.findings[0].reason == "known, but grew from 3 to 4 (48 B to 48 B)")
    #expect(grown.exitStatus == 86)
    input.findings = [leak(count: 2, bytes: 64)]
    #expect(GateResult(judging: input).exitStatus == 86)
  }

  @Test func entriesExpireAfterTheirDay() {
    var input = input([leak()])
    var baseline = Baseline(renewing: Baseline(), findings: [leak()], processes: [])
    baseline.entries[0].expires = day("2026-06-15")
    input.baseline = baseline
    #expect(GateResult(judging: input).exitStatus == 0)
    input.today = day("2026-06-16")
    let result = GateResult(judging: input)
    #expect(result.findings.map(\.state) == [.expired])
    #expect(result.exitStatus == 86)
  }

  @Test func staleEntriesAreToldAndMayFail() {
    var input = input()
    input.baseline = Baseline(renewing: Baseline(), findings: [leak()], processes: [])
    let told = GateResult(judging: input)
    #expect(told.stale.map(\.what) == ["Node in makeList (list.c)"])
    #expect(told.exitStatus == 0)
    input.failsOnStale = true
    #expect(GateResult(judging: input).exitStatus == 86)
  }

  /// Where something may have been missed.
  @Test func nothingIsStaleThatWasNotLookedFor() {
    var whole = input()
    whole.baseline = Baseline(renewing: Baseline(), findings: [leak()], processes: [])
    whole.failsOnStale = true
    var failed = whole, killed = whole, unrecorded = whole, partly = whole, unseen = whole
    var child = whole
    failed.hostStatus = 1
    killed.processes = [checked(problems: ["killed"])]
    unrecorded.problems = ["a static program"]
    partly.processes.append(checked("other", problems: ["killed"]))
    // With --allow-killed that is no problem.
    unseen.processes[0].measures?.leaked = nil
    // Only the shell that started it knows of a static program.
    var shell = checked("sh", pid: 8, problems: ["a child process was not recorded: st"])
    (shell.isChosen, shell.measures) = (false, nil)
    child.processes.append(shell)
    for input in [failed, killed, unrecorded, partly, unseen, child] {
      #expect(!input.isWhole)
      #expect(GateResult(judging: input).stale.isEmpty)
    }
    #expect(whole.isWhole)
    #expect(GateResult(judging: whole).stale.count == 1)
  }

  @Test func suppressedFindingsDoNotCountAndBroadPatternsAreTold() throws {
    var input = input(["a", "b", "c", "d"].map { leak(in: $0) })
    try input.suppressions.add("leak:list.c", name: "x.supp")
    let result = GateResult(judging: input)
    #expect(result.findings.map(\.state) == Array(repeating: .suppressed, count: 4))
    #expect(result.exitStatus == 0)
    #expect(
      result.warnings == [
        "the suppression leak:list.c (x.supp:1) hides 4 of 4 findings: make it narrower"
      ])
  }

  @Test func aScopedRuleTakesItsFindingsFromTheOthers() throws {
    var input = input([leak(in: "legacy_a"), leak(in: "legacy_b")])
    input.rules = GateRule.rules([try GateRule("leaks[function=legacy_*]<=6")])
    #expect(GateResult(judging: input).exitStatus == 0)
    input.rules = GateRule.rules([try GateRule("leaks[function=legacy_a]<=6")])
    let result = GateResult(judging: input)
    #expect(result.rules.filter { !$0.isKept }.map(\.rule) == ["leaks<=0"])
    #expect(result.rules.map(\.value) == [3, 3, 0, 0])
  }

  @Test func relativeLimitsCompareWithTheBaseline() throws {
    var input = input(processes: [checked(peak: 1051)])
    input.rules = [try GateRule("peak<=+5%")]
    #expect(GateResult(judging: input).exitStatus == 87)
    input.baseline = Baseline(renewing: Baseline(), findings: [], processes: [checked(peak: 1000)])
    let result = GateResult(judging: input)
    #expect(result.exitStatus == 86)
    #expect((result.rules[0].value, result.rules[0].most) == (1051, 1050))
    input.processes = [checked(peak: 1050)]
    #expect(GateResult(judging: input).exitStatus == 0)
  }

  @Test func eachProcessHasItsOwnBudget() throws {
    let processes = [checked(pid: 7), checked(pid: 8)]
    var input = input([leak(pid: 7), leak(pid: 8)], processes: processes)
    input.rules = [try GateRule("leaks<=3")]
    #expect(GateResult(judging: input).exitStatus == 0)
    input.rules = [try GateRule("leaks<=47B")]
    #expect(GateResult(judging: input).rules.map(\.value) == [48, 48])
  }

  /// The first process of every container has the same process ID.
  @Test func tracesOfEqualProcessIDsHaveBudgetsOfTheirOwn() throws {
    var input = input([leak(), leak(count: 4)], processes: [checked(), checked()])
    for (index, trace) in ["a.mtrace", "b.mtrace"].enumerated() {
      input.processes[index].trace = trace
      input.findings[index].trace = trace
    }
    input.rules = [try GateRule("leaks<=3")]
    let result = GateResult(judging: input)
    #expect(result.rules.map(\.value) == [3, 4])
    #expect(result.rules.map(\.trace) == ["a.mtrace", "b.mtrace"])
    #expect(result.failing.map(\.trace) == ["b.mtrace"])
    #expect(result.allowed.map(\.trace) == ["a.mtrace"])
  }
}
