import Symbolication
import Testing

@testable import LeakGate

@Suite struct SuppressionTests {
  private func hides(_ text: String, _ finding: Finding = leak()) throws -> Bool {
    var set = SuppressionSet()
    try set.add(text, name: "x.supp")
    return set.first(hiding: finding) != nil
  }

  @Test(arguments: [
    ("leak:makeList", true), ("# comment\n\nleak:make*st\n", true), ("leak:^make", true),
    ("leak:List$", true), ("leak:^List", false), ("leak:makelist", false),
    ("leak:libc.so", true), ("leak:list.c", true), ("leak:other", false),
    ("race:makeList", false), ("# comment\r\nleak:makeList\r\n", true),
    ("\u{feff}leak:makeList\r\n", true), ("\u{feff}# comment\nleak:makeList\n", true),
    ("leak:other\r\nleak:^make\r\n", true), ("leak:List$\r\n", true), ("leak: makeList", true),
  ])
  func linesOfLeakSanitizerFitAnyFrame(_ text: String, _ isHidden: Bool) throws {
    #expect(try hides(text) == isHidden)
  }

  @Test(arguments: [
    "race:x", "deadlock:x", "interceptor_via_fun:x", "odr_violation:x", "vptr:x", "enum:x",
    "{\n a\n Memcheck:Cond\n fun:x\n}", "{\n a\n Memcheck:Value8\n fun:x\n}",
    "{\n a\n Memcheck:Param\n write(buf)\n fun:x\n}", "{\n a\n drd:Leek\n fun:x\n}",
  ])
  func whatOtherToolsHideIsLeftToThem(_ text: String) throws {
    #expect(try !hides(text))
  }

  @Test func whatEachHidIsTold() throws {
    var input = input(
      [leak(), leak(pid: 8), leak(in: "other")], processes: [checked(), checked(pid: 8)])
    try input.suppressions.add("leak:gone\nleak:makeList\nleak:List\n", name: "x.supp")
    let result = GateResult(judging: input)
    #expect(result.suppressions.map(\.findings) == [0, 2, 0])
    #expect(result.suppressions.map(\.count) == [0, 6, 0])
    #expect(result.suppressions.map(\.bytes) == [0, 96, 0])
    let text = try result.output(as: .text, root: SourceRoot("/src/app"))
    #expect(text.contains("\nSuppressed by: leak:makeList (x.supp:2): 2 findings, 96 B\n"))
    let unused = "\nSuppressed nothing: leak:gone (x.supp:1), leak:List (x.supp:3)\n"
    #expect(text.contains(unused))
    // What was missed may be what they are for.
    input.problems = ["a process could not be followed"]
    #expect(
      try !GateResult(judging: input).output(as: .text, root: SourceRoot("/src/app"))
        .contains("Suppressed nothing"))
  }

  @Test func ofManyThatHidNothingTheFirstFewAreNamed() throws {
    var input = input()
    try input.suppressions.add((1...9).map { "leak:f\($0)\n" }.joined(), name: "x.supp")
    let text = try GateResult(judging: input).output(as: .text, root: SourceRoot("/src/app"))
    #expect(text.contains("leak:f4 (x.supp:4), leak:f5 (x.supp:5) and 4 more\n"))
  }

  /// An input with a leak in each of these programs, which have these suppressions.
  private func inputOf(programs: [(name: String, text: ReturnedText?)]) -> GateInput {
    var input = GateInput(today: day("2026-06-15"))
    for (index, program) in programs.enumerated() {
      let pid = UInt32(index + 7)
      input.add(
        checked(program.name, pid: pid), [leak(process: program.name, pid: pid)],
        suppressions: program.text)
    }
    return input
  }

  @Test func programsHideWhatIsTheirOwn() throws {
    let text = "# ours\nleak:gone\nleak:makeList\n"
    let result = GateResult(
      judging: inputOf(programs: [("app", .text(text)), ("other", nil), ("tests", .text(text))]))
    #expect(result.findings.map(\.state) == [.new, .suppressed, .suppressed])
    #expect(result.findings[0].process == "other")
    let output = try result.output(as: .text, root: SourceRoot("/src/app"))
    let line =
      "\nSuppressed by: leak:makeList (__lsan_default_suppressions of app and 1 other:3): "
      + "2 findings, 96 B\n"
    #expect(output.contains(line))
    // It is there for LeakSanitizer, too.
    #expect(!output.contains("leak:gone"))
  }

  @Test func whatProgramsOfOneNameHideIsCountedOnce() {
    let result = GateResult(
      judging: inputOf(programs: [
        ("a/run", .text("leak:makeList\n")), ("b/run", .text("leak:makeList\nleak:gone\n")),
      ]))
    #expect(
      result.suppressions.map(\.place) == ["__lsan_default_suppressions of run:1"])
    #expect(result.suppressions.map(\.findings) == [2])
  }

  @Test func filesHideBeforePrograms() throws {
    var input = inputOf(programs: [("app", .text("leak:main\n"))])
    try input.suppressions.add("leak:makeList\n", name: "x.supp")
    let result = GateResult(judging: input)
    #expect(result.findings.map(\.reason) == ["leak:makeList (x.supp:1)"])
  }

  @Test func whatProgramsDoNotSayIsWarnedOf() {
    let result = GateResult(
      judging: inputOf(programs: [
        ("app", .unknown), ("other", .text("leek:x\n")), ("tests", .text("")),
      ]))
    #expect(result.findings.map(\.state) == [.new, .new, .new])
    #expect(
      result.warnings == [
        "app (pid 7): its suppressions could not be read: __lsan_default_suppressions does more than "
          + "return a text; put them into a file for --suppressions",
        "other (pid 8): its suppressions are not understood: __lsan_default_suppressions:1: there "
          + "is no kind 'leek'; did you mean 'leak'?",
      ])
  }

  @Test func misusesAreNoLeaks() throws {
    #expect(try !hides("leak:makeList", leak(kind: .doubleFree)))
  }

  @Test(arguments: [
    ("fun:malloc\n  fun:makeList", true), ("fun:makeList\n  fun:main", true),
    ("fun:malloc\n  fun:main", false), ("fun:malloc\n  ...\n  fun:main", true),
    ("...\n  fun:other", false), ("fun:*alloc\n  obj:*/app", true), ("obj:/usr/*", false),
    ("fun:malloc\n  src:list.c", true), ("src:list.c:12", true), ("src:list.c:13", false),
    ("match-leak-kinds: reachable\n  fun:malloc\n  fun:makeList", false),
    ("match-leak-kinds: definite,possible\n  fun:malloc\n  fun:makeList", true),
    ("match-leak-kinds: none\n  fun:malloc\n  fun:makeList", false),
    ("match-leak-kinds:all\n  fun:malloc\n  fun:makeList", true),
  ])
  func blocksOfValgrindFitFromTheLeafOn(_ frames: String, _ isHidden: Bool) throws {
    #expect(try hides("{\n  a name\n  Memcheck:Leak\n  \(frames)\n}\n") == isHidden)
  }

  @Test func blocksOfValgrindMayComeFromWindows() throws {
    let text = "{\n  a\n  Memcheck:Leak\n  fun:malloc\n  fun:makeList\n}\n"
    #expect(try hides(text.replacing("\n", with: "\r\n")))
  }

  @Test func valgrindsOtherKindsHideOtherFindings() throws {
    let text = "{\n  a\n  Memcheck:Free\n  fun:free\n  fun:makeList\n}"
    #expect(try hides(text, leak(kind: .doubleFree)))
    #expect(try !hides(text))
    #expect(try !hides("{\n  a\n  Helgrind:Race\n  fun:makeList\n}"))
  }

  @Test(arguments: [
    "reallocarray", "_ZnamSt11align_val_tRKSt9nothrow_t", "_ZdlPvmSt11align_val_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
  ])
  func theAllocatorsFunctionNeedNotBeOnTheStack(_ name: String) throws {
    let text = "{\n  a\n  Memcheck:AlignMismatch\n  fun:\(name)\n  fun:makeList\n}"
    #expect(try hides(text, leak(kind: .wrongAlignment)))
  }

  @Test(arguments: [
    ("Free", FindingKind.reallocOfFreed), ("Free", .wrongSize), ("SizeMismatch", .wrongSize),
    ("AlignMismatch", .wrongAlignment), ("AlignMismatch", .mismatchedFree),
  ])
  func kindsOfValgrindHideTheirOwn(_ name: String, _ kind: FindingKind) throws {
    let text = "{\n  a\n  Memcheck:\(name)\n  fun:_ZdlPvm\n  fun:makeList\n}"
    #expect(try hides(text, leak(kind: kind)))
    #expect(try !hides(text))
  }

  @Test(arguments: [
    ("...\n fun:main", true), ("fun:makeList\n ...", true), ("...", true), ("...\n ...", true),
    ("...\n fun:*\n fun:main", true), ("...\n fun:main\n fun:makeList", false),
    ("...\n fun:main\n fun:*\n ...", true), ("...\n fun:main\n fun:*\n fun:*", false),
  ])
  func dotsStandForAnyNumberOfFrames(_ frames: String, _ isHidden: Bool) throws {
    #expect(try hides("{\n a\n Memcheck:Leak\n \(frames)\n}\n") == isHidden)
  }

  /// To try out each way to part the frames among the dots would take years.
  @Test func manyDotsTakeNoTime() throws {
    var finding = leak()
    finding.frames = Array(repeating: finding.frames[0], count: 1000)
    let frames = String(repeating: " ...\n fun:make*\n", count: 40)
    #expect(try !hides("{\n a\n Memcheck:Leak\n\(frames) fun:other\n}\n", finding))
    #expect(try hides("{\n a\n Memcheck:Leak\n\(frames) fun:makeList\n}\n", finding))
  }

  @Test func mangledNamesAreCompared() throws {
    var finding = leak()
    finding.frames[0].symbol = "_ZN4List4makeEv"
    #expect(try hides("{\n  a\n  Memcheck:Leak\n  fun:_Znwm\n  fun:_ZN4List*\n}", finding))
  }

  @Test(arguments: [
    ("makeList", "is no suppression"), ("{\n a\n Memcheck:Leak\n fun:x", "has no }"),
    ("{\n a\n Memcheck:Leak\n what:x\n}", "is not fun:"), ("{\n a\n}", "a name, a kind"),
    ("{\n a\n {\n}", "has no }"),
    ("leak:x\nleak: ", "x.supp:2: 'leak:' has no pattern; it looks like leak:pattern"),
    (
      "{\n a\n Memcheck:Leak\n match-leak-kinds: definite,foo\n fun:x\n}",
      "x.supp:4: 'foo' is no kind of leak; the kinds are definite, indirect, possible, reachable, "
        + "all and none"
    ),
    ("{\n a\n Memcheck:Leak\n match-leak-kinds:\n fun:x\n}", "x.supp:4: '' is no kind of leak"),
    ("{\n a\n Memcheck:Leak\n match-leak-kinds: all\n}", "x.supp:2: a suppression has a name"),
    ("#\nleek:x", "x.supp:2: there is no kind 'leek'; did you mean 'leak'?"),
    ("Leak:x", "did you mean 'leak'?"), ("laek:x", "did you mean 'leak'?"),
    ("leaks:x", "did you mean 'leak'?"),
    (
      "{\n a\n Memcheck:leak\n fun:x\n}",
      "x.supp:3: there is no kind 'leak'; did you mean 'Leak'?"
    ),
    ("{\n a\n Memcheck:SizeMissmatch\n fun:x\n}", "did you mean 'SizeMismatch'?"),
  ])
  func whatIsNoSuppressionIsRefused(_ text: String, _ message: String) {
    var set = SuppressionSet()
    let error = #expect(throws: GateError.self) { try set.add(text, name: "x.supp") }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }
}
