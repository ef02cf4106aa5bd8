import Testing

@testable import LeakGate

@Suite struct BaselineTests {
  @Test func whatIsWrittenIsReadBack() throws {
    var old = Baseline()
    old.entries = [
      Baseline.Entry(
        fingerprint: leak().fingerprint, kind: .leak, what: "old name", count: 1, bytes: 1,
        reason: "a \"known\" leak: see #12", owner: "core", expires: day("2027-01-31"))
    ]
    let baseline = Baseline(
      renewing: old, findings: [leak(), leak(in: "a: b # c\n\u{1b}", kind: .cycle)],
      processes: [checked(leaked: Amount(count: 6, bytes: 96), cycles: 1)])
    let read = try Baseline(yaml: baseline.yaml, name: "b.yml")
    #expect(read == baseline)
    let entry = try #require(read.entries.first { $0.kind == .leak })
    #expect(entry.what == "Node in makeList (list.c)")
    #expect((entry.count, entry.bytes) == (3, 48))
    #expect(entry.reason == "a \"known\" leak: see #12")
    #expect(entry.owner == "core")
    #expect(entry.expires == day("2027-01-31"))
    #expect(read.measures["app"]?[.leaks] == Amount(count: 6, bytes: 96))
    #expect(read.measures["app"]?[.peak] == Amount(bytes: 1000))
  }

  /// Of what a person wrote down nothing is lost when a function gets another name.
  @Test func whatIsLikelyRenamedIsSaidAndTakenOver() throws {
    var old = Baseline(renewing: Baseline(), findings: [leak(in: "makeList")], processes: [])
    old.entries[0].reason = "cache, see #12"
    old.entries[0].expires = day("2027-01-31")
    var input = input([leak(in: "buildList"), leak(count: 2, bytes: 32, in: "other")])
    input.baseline = old
    let result = GateResult(judging: input)
    #expect(
      result.findings.map(\.reason) == [
        "as large as Node in makeList (list.c) (\(leak().fingerprint)) in the baseline, "
          + "which was not found: renamed? --update-baseline takes it over", nil,
      ])
    #expect(result.findings.allSatisfy { $0.state == .new && $0.fails })
    let renewed = Baseline(renewing: old, findings: result.findings, processes: [])
    #expect(renewed.entries.map(\.what).map { $0.dropFirst(8).prefix(5) } == ["build", "other"])
    #expect(renewed.entries.map(\.reason) == ["cache, see #12", nil])
    #expect(renewed.entries.map(\.expires) == [day("2027-01-31"), nil])
  }

  @Test func whereSeveralFitNothingIsCalledRenamed() {
    let old = Baseline(renewing: Baseline(), findings: [leak(in: "makeList")], processes: [])
    for findings in [
      [leak(in: "a"), leak(in: "b")], [leak(), leak(in: "a")], [leak(what: "Leaf", in: "a")],
      [leak(in: "a", kind: .cycle)],
    ] {
      var input = input(findings)
      input.baseline = old
      #expect(GateResult(judging: input).findings.map(\.reason) == findings.map { _ in nil })
    }
    var cut = input([leak(in: "a")])
    (cut.baseline, cut.problems) = (old, ["a process could not be followed"])
    #expect(GateResult(judging: cut).findings.map(\.reason) == [nil])
  }

  /// What was not looked for stays, what was found grows.
  @Test func aRunThatMayHaveMissedSomethingRemovesNothing() throws {
    var old = Baseline(
      renewing: Baseline(), findings: [leak(in: "a"), leak(count: 9, bytes: 99, in: "b")],
      processes: [checked(peak: 5000), checked("other")])
    for index in old.entries.indices { old.entries[index].reason = "known" }
    let renewed = Baseline(
      renewing: old, findings: [leak(count: 4, bytes: 64, in: "a"), leak(in: "c")],
      processes: [checked(peak: 70)], isWhole: false)
    #expect(renewed.entries.map(\.what).map { $0.dropFirst(8).first } == ["a", "b", "c"])
    #expect(renewed.entries.map(\.count) == [4, 9, 3])
    #expect(renewed.entries.map(\.bytes) == [64, 99, 48])
    #expect(renewed.entries.map(\.reason) == ["known", "known", nil])
    #expect(renewed.measures["other"]?[.peak] == Amount(bytes: 1000))
    #expect(renewed.measures["app"]?[.peak] == Amount(bytes: 5000))
  }

  @Test func anEntryAllowsWhatTheWorstProcessHas() {
    let baseline = Baseline(
      renewing: Baseline(),
      findings: [leak(count: 3, bytes: 48), leak(count: 5, bytes: 40, pid: 8)], processes: [])
    #expect(baseline.entries.map(\.count) == [5])
    #expect(baseline.entries.map(\.bytes) == [48])
  }

  @Test func entriesStandInTheSameOrderWhateverWasFoundFirst() {
    let findings = [leak(in: "b"), leak(in: "a"), leak(in: "c", kind: .cycle)]
    let forward = Baseline(renewing: Baseline(), findings: findings, processes: [])
    let backward = Baseline(renewing: Baseline(), findings: findings.reversed(), processes: [])
    #expect(forward.yaml == backward.yaml)
    #expect(
      forward.entries.map(\.what) == [
        "Node in a (list.c)", "Node in b (list.c)", "Node in c (list.c)",
      ])
  }

  @Test func ofEntriesForOneFindingTheFirstCounts() throws {
    let old = try Baseline(
      yaml: """
        version: 1
        findings:
          - {owner: core, count: 2, kind: leak, 'fingerprint': \(leak(in: "a").fingerprint)}
          - {fingerprint: \(leak(in: "a").fingerprint), kind: leak, owner: other}
          - {kind: double-free, fingerprint: null}
          - {kind: double-free, fingerprint: 012}
        """, name: "b.yml")
    #expect(old.entries.map(\.count) == [2, .max, .max, .max])
    #expect(old.entries.map(\.fingerprint).suffix(2) == ["null", "012"])
    let new = Baseline(renewing: old, findings: [leak(in: "a")], processes: [])
    #expect(new.entries.map(\.owner) == ["core"])
  }

  @Test(arguments: [
    ("version: 2", "not a baseline of version 1"), ("[1", "is not YAML"),
    ("version: 1\nfindings:\n<<<<<<< HEAD\n=======\n>>>>>>> b", "b.yml:3: a merge has left its"),
    ("version: 1\nfindings:\n  - kind: leak", "b.yml:3"),
    ("version: 1\nfindings:\n  - {what: a, kind: leek, fingerprint: b}", "b.yml:3: a finding has"),
    ("version: 1\nfindings:\n  - {kind: leak, fingerprint: [b]}", "b.yml:3: a finding has"),
    ("version: 1\nfindings: [x]", "b.yml:2: a finding has"),
    ("version: 1\nextra: 1", "there is no 'extra' here"),
    ("version: 1\nfindings:\n  - {fingerprint: a, kind: leak, expires: 2027-02-29}", "is a day"),
    ("version: 1\nfindings:\n  - {fingerprint: a, kind: leak, expires: soon}", "is a day"),
    ("version: 1\nfindings:\n  - {fingerprint: a, kind: leak, count: -1}", "takes a number"),
    ("version: 1\nfindings:\n  - {fingerprint: a, kind: leak, wat: 1}", "there is no 'wat'"),
    ("version: 1\nmeasures: {app: {lecks: {count: 1}}}", "there is no measure 'lecks'"),
    ("version: 1\nmeasures: 3", "b.yml:2: 'measures' takes KEY: VALUE lines"),
    ("version: 1\nmeasures: {app: 5}", "b.yml:2: 'app' takes KEY: VALUE lines"),
    ("version: 1\nmeasures: {app: {peak: 5}}", "b.yml:2: 'peak' takes KEY: VALUE lines"),
    ("version: 1\nmeasures: {app: {peak: {byts: 5}}}", "b.yml:2: there is no 'byts' in a measure"),
    ("version: 1\nmeasures: {app: {peak: {bytes: few}}}", "b.yml:2: 'bytes' takes a number"),
  ])
  func whatIsNotUnderstoodIsRefused(_ text: String, _ message: String) {
    let error = #expect(throws: GateError.self) { try Baseline(yaml: text, name: "b.yml") }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func configurationsAreReadStrictly() throws {
    let configuration = try GateConfiguration(
      yaml: """
        version: 1
        rules:
          - leaks[image=libold*] <= 10KiB
          - {measure: peak, max: +5%}
        processes: '*.xctest'
        baseline: leaks.yml
        suppressions: [a.supp, b.supp]
        stale: fail
        unmeasured: warn
        """, name: ".memtrace.yml")
    #expect(configuration.rules.map(\.text) == ["leaks[image=libold*]<=10KiB", "peak<=+5%"])
    #expect(configuration.processes == ["*.xctest"])
    #expect(configuration.baseline == "leaks.yml")
    #expect(configuration.suppressions == ["a.supp", "b.supp"])
    #expect(configuration.failsOnStale && !configuration.failsOnUnmeasured)
    #expect(try GateConfiguration(yaml: "", name: "x") == GateConfiguration())
    #expect(try GateConfiguration(yaml: "version: \"1\"", name: "x") == GateConfiguration())
    #expect(try Baseline(yaml: "version: '1'", name: "x") == Baseline())
    let nameless = #expect(throws: GateError.self) {
      try GateConfiguration(yaml: "version: 1\nbaseline:", name: "x.yml")
    }
    #expect(nameless?.description == "x.yml:2: 'baseline' takes the name of a file")
    let typo = #expect(throws: GateError.self) {
      try GateConfiguration(yaml: "rulez: []", name: "x.yml")
    }
    #expect(typo?.description.hasPrefix("x.yml:1: there is no 'rulez'") == true)
    let rule = #expect(throws: GateError.self) {
      try GateConfiguration(yaml: "rules:\n  - leaks", name: "x.yml")
    }
    #expect(rule?.description.hasPrefix("x.yml:2: 'leaks' is no rule") == true)
    let relative = #expect(throws: GateError.self) {
      try GateConfiguration(
        yaml: "rules:\n  - {measure: leaks, max: +3, function: a}", name: "x.yml")
    }
    #expect(
      relative?.description.hasPrefix("x.yml:2: 'leaks[function=a]<=+3': the baseline has") == true)
  }

  @Test(arguments: [
    ("2028-02-29", true), ("2027-02-29", false), ("2000-02-29", true), ("2100-02-29", false),
    ("2027-04-30", true), ("2027-04-31", false), ("2027-12-31", true), ("2027-13-01", false),
    ("2027-00-10", false), ("2027-1-10", false), ("2027-01-00", false),
  ])
  func daysAreThoseOfTheCalendar(text: String, isDay: Bool) {
    #expect((CalendarDay(text) != nil) == isDay)
  }
}
