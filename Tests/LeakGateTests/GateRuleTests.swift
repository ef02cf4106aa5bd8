import Testing

@testable import LeakGate

@Suite struct GateRuleTests {
  @Test(arguments: [
    ("leaks<=0", "leaks<=0"), (" leaks <= 3 ", "leaks<=3"), ("leaks<=10KiB", "leaks<=10KiB"),
    ("unfreed<=+1000B", "unfreed<=+1000B"), ("peak<=64MiB", "peak<=64MiB"),
    ("peak<=+5%", "peak<=+5%"), ("allocations<=+0.25%", "allocations<=+0.25%"),
    ("leaks[category=Node*, image=app]<=2", "leaks[category=Node*,image=app]<=2"),
    ("leaks[function=operator<=>]<=2", "leaks[function=operator<=>]<=2"),
  ])
  func rulesAreReadAndWritten(_ text: String, _ written: String) throws {
    #expect(try GateRule(text).text == written)
  }

  @Test(arguments: [
    ("leaks", "'leaks' is no rule"), ("lecks<=0", "there is no measure 'lecks'"),
    ("leaks<=many", "'many' is no limit"), ("peak<=5%", "'5%' is no share"),
    ("peak[image=a]<=5", "a figure of the whole process"), ("leaks[x=1]<=0", "there is no 'x'"),
    ("leaks[image=a<=0", "has no ]"), ("leaks<=+1.234%", "is no share"),
    ("leaks[category=Malloc-16]<=0", "findings have no sizes"),
    ("leaks[function=]<=3", "'function=' has no pattern"),
    ("unfreed[type=Malloc-4*]<=0", "[category=malloc*] or [function=parse]"),
    ("allocations<=1k", "allocations are counted, '1k' is a number of bytes"),
    ("cycles<=1MiB", "cycles are counted, '1MiB' is a number of bytes"),
    ("memory-errors<=+5B", "a limit for them looks like 3, +3 or +5%"),
    ("leaks[function=cache_*]<=+0", "cannot be relative to it: leave the + or the scope out"),
    ("unfreed[image=a]<=+5%", "cannot be relative to it"),
  ])
  func whatIsNoRuleIsRefused(_ text: String, _ message: String) {
    let error = #expect(throws: GateError.self) { try GateRule(text) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func relativeLimitsDoNotOverflow() {
    #expect(Limit.morePercent(500).most(above: 1000) == 1050)
    #expect(Limit.morePercent(10_000).most(above: .max) == .max)
    #expect(Limit.morePercent(100).most(above: UInt64.max - 1) == .max)
    #expect(Limit.moreBytes(.max).most(above: 1) == .max)
    #expect(Limit.count(3).most(above: 10) == 3)
  }

  @Test func defaultsGiveWayToRulesForEverything() throws {
    let scoped = try GateRule("leaks[image=a]<=3")
    #expect(
      GateRule.rules([scoped]).map(\.text) == [
        "leaks[image=a]<=3", "leaks<=0", "cycles<=0", "memory-errors<=0",
      ])
    let whole = try GateRule("leaks<=3")
    #expect(GateRule.rules([whole]).map(\.text) == ["leaks<=3", "cycles<=0", "memory-errors<=0"])
    #expect(GateRule.rules([whole], withDefaults: false).map(\.text) == ["leaks<=3"])
  }

  @Test func mergedFunctionsCountUnderTheirNames() {
    var scope = RuleScope()
    scope.function = "makeBeta(_:)"
    #expect(scope.holds(leak(in: "makeBeta(_:) [merged]")))
    #expect(!scope.holds(leak(in: "makeAlpha(_:) [merged]")))
  }
}
