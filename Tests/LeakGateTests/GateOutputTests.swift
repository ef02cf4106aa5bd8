import Foundation
import Reports
import Testing
import TraceTestSupport

@testable import LeakGate

@Suite struct GateOutputTests {
  private let root = SourceRoot("/src/app")

  private func many(_ count: Int) -> GateResult {
    GateResult(judging: input((1...count).map { leak(bytes: UInt64($0), in: "f\($0)") }))
  }

  @Test func annotationsStayWithinTheLimitAndSaySo() throws {
    let lines = try many(500).output(as: .github, root: root).split(separator: "\n")
    #expect(lines.count == 10)
    #expect(lines.allSatisfy { $0.hasPrefix("::error ") })
    #expect(
      lines[0].hasPrefix(
        "::error file=list.c,line=12,endLine=12,title=Memory leak%3A 3 blocks%2C 500 B::"))
    #expect(lines[9].contains("title=memtrace%3A 491 more findings::"))
    let ten = try many(10).output(as: .github, root: root).split(separator: "\n")
    #expect(ten.count == 10)
    #expect(!ten[9].contains("more findings"))
  }

  @Test func logsHaveTheLargestFindingsAndTheVerdict() throws {
    func lines(_ count: Int, isLog: Bool) throws -> [Substring] {
      try many(count).output(as: .text, root: root, isLog: isLog).split(separator: "\n")
    }
    let log = try lines(503, isLog: true)
    #expect(log.count { $0.hasPrefix("Memory leak: ") } == 500)
    #expect(log.contains("… 3 more findings with 6 B; --output text=FILE has all"))
    #expect(log.last?.hasPrefix("memtrace-check: verdict=fail exit=86 ") == true)
    #expect(log.last?.contains(" findings=503 ") == true)
    let file = try lines(503, isLog: false)
    #expect(file.count { $0.hasPrefix("Memory leak: ") } == 503)
    #expect(!file.contains { $0.hasPrefix("…") })
    #expect(try !lines(500, isLog: true).contains { $0.hasPrefix("…") })
  }

  /// As the reports do, which pass over functions that allocate for others.
  @Test func findingsAreShownWhereTheResponsibleFrameIs() throws {
    var finding = leak()
    finding.frames.insert(frame("pool_alloc", "/src/app/pool.c", 3), at: 0)
    #expect(root.place(of: finding)?.path == "list.c")
    #expect(
      finding.sentence() == "Memory leak: Node, 3 blocks, 48 B, allocated in makeList (list.c:12)")
    let annotation = try GateResult(judging: input([finding])).output(as: .github, root: root)
    #expect(annotation.contains("file=list.c,line=12,"))

    // Where that is in no file of the repository, the innermost frame that is.
    finding.responsible = frame("decode", "/src/other/decode.c", 8)
    #expect(root.place(of: finding)?.path == "pool.c")
    finding.responsible = nil
    #expect(root.place(of: finding)?.path == "pool.c")
  }

  /// What differs may lie beyond the frames that are shown of the first.
  @Test func furtherStacksBeginWhereTheyDiffer() throws {
    var finding = leak()
    finding.frames = (0..<14).map { frame("f\($0)") }
    var others = [finding.frames, finding.frames, [frame("f0"), frame("main")], finding.frames]
    others[0].replaceSubrange(13..., with: [frame("g13"), frame("main")])
    others[1][1] = frame("f1", "/src/app/x.c", 7)
    others[3].removeLast()
    finding.related = others.map { .init(title: "also from this stack", frames: $0) }
    let text = try GateResult(judging: input([finding])).output(as: .text, root: root)
    let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
    let starts = lines.indices.filter { lines[$0] == "also from this stack:" }
    #expect(
      starts.map { Array(lines[($0 + 1)...($0 + 3)]) } == [
        ["… 13 frames as above", "g13", "main"], ["f0", "f1  x.c:7", "f2"],
        ["f0", "main", "also from this stack:"], ["f0", "f1", "f2"],
      ])
  }

  /// A leak in each worker leaves room for the others.
  @Test func whatManyProcessesHaveIsOneAnnotation() throws {
    let workers = (1...20).map { leak(bytes: 1000 - UInt64($0), pid: UInt32($0)) }
    let result = GateResult(
      judging: input(
        workers + [leak(in: "other", pid: 1), leak(bytes: 1, in: "other", pid: 2)],
        processes: (1...20).map { checked(pid: UInt32($0)) }))
    let lines = try result.output(as: .github, root: root).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(
      lines[0].contains(
        "title=Memory leak%3A 60 blocks%2C 19.33 KiB::Memory leak: Node, 60 blocks, 19.33 KiB in "
          + "20 processes, allocated in makeList (list.c:12)%0A"))
    let workersText = "app (pid 1, 2, 3 and 17 more), fingerprint "
    #expect(lines[0].contains("%0A\(workersText)"))
    #expect(lines[1].contains("allocated in other "))
    #expect(lines[1].contains("%0Aapp (pid 1, 2), fingerprint "))
    let summary = try result.output(as: .summary, root: root)
    #expect(summary.split(separator: "\n").count { $0.hasPrefix("<details>") } == 2)
    #expect(summary.contains("\n\(workersText)"))
    #expect(
      summary.contains(
        "| Memory leak | Node | 60 | 19.33 KiB | `list.c:12` | app, 20 processes |\n"))
    #expect(summary.contains("| `leaks<=0` | app, 18 processes | 3 leaked blocks | 0 |\n"))
    #expect(summary.hasPrefix("## memtrace: failed, 22 findings (2 different)\n"))
  }

  /// Nothing takes a backslash away inside of an element of HTML.
  @Test func titlesInTheSummaryAreNotMarkdown() throws {
    let result = GateResult(judging: input([leak(what: "my_map<A&>*")]))
    let summary = try result.output(as: .summary, root: root)
    #expect(summary.contains("| my\\_map&lt;A&amp;&gt;\\* | 3 |"))
    #expect(
      summary.contains(
        "<details><summary>Memory leak: my_map&lt;A&amp;&gt;*, 3 blocks, 48 B, allocated in "
          + "makeList (list.c:12)</summary>\n"))
  }

  @Test func annotationsTellRecursionOnce() throws {
    var finding = leak()
    finding.frames = Array(repeating: finding.frames[0], count: 10) + finding.frames.dropFirst()
    let result = GateResult(judging: input([finding]))
    #expect(
      try result.output(as: .github, root: root).contains(
        "%0A    makeList  list.c:12%0A    … the same frame 9 more times%0A    main  main.c:5%0A"))
  }

  @Test func whatManyProcessesHaveIsToldOnce() throws {
    let result = GateResult(
      judging: input(
        (1...5).map { leak(pid: UInt32($0)) } + [leak(bytes: 1, in: "other", pid: 5)],
        processes: (1...5).map { checked(pid: UInt32($0)) }))
    let text = try result.output(as: .text, root: root)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("Memory leak") } == [
        "Memory leak: Node, 15 blocks, 240 B in 5 processes, allocated in makeList (list.c:12)",
        "Memory leak: Node, 3 blocks, 1 B, allocated in other (list.c:12)",
      ])
    #expect(
      lines.contains {
        $0.hasPrefix("  app (pid 1, 2, 3 and 2 more), fingerprint ")
      })
    #expect(
      lines.filter { $0.hasPrefix("  leaks<=0") }.map { $0.split(separator: "  ").map(\.trimmed) }
        == [
          ["leaks<=0", "app, 4 processes", "3 leaked blocks", "0"],
          ["leaks<=0", "app (pid 5)", "6 leaked blocks", "0"],
        ])
    #expect(lines.contains("memtrace check failed: 6 findings (2 different)."))
    #expect(lines.last?.contains(" findings=6 leaks=18 leaked_bytes=241 ") == true)
  }

  @Test func manyProcessesAlikeAreOneLine() throws {
    let few = GateResult(judging: input(processes: (1...3).map { checked(pid: UInt32($0)) }))
    #expect(few.processLines.map(\.title) == ["app (pid 1)", "app (pid 2)", "app (pid 3)"])
    let many = GateResult(
      judging: input(
        processes: (1...5).map { checked(pid: UInt32($0)) } + [
          checked(pid: 6, problems: ["was killed"])
        ]))
    #expect(many.processLines.map(\.title) == ["app, 5 processes", "app (pid 6)"])
  }

  /// A process that is killed as it begins leaves a trace without the name of its program.
  @Test func manyProcessesWithoutNamesAreOneLine() throws {
    let problems = ["wrote no end"]
    var input = input(
      processes: (1...5).map { checked("", pid: UInt32($0), problems: problems) })
    input.problems = input.processes.map { "\($0.title): wrote no end" }
    let result = GateResult(judging: input)
    #expect(result.processLines.map(\.title) == ["an unknown program, 5 processes"])
    #expect(
      result.joiningAlike(input.problems) == ["an unknown program, 5 processes: wrote no end"])
  }

  @Test func whatIsSaidOfManyProcessesIsOneLine() throws {
    func warned(_ pid: UInt32, _ warning: String) -> CheckedProcess {
      var process = checked(pid: pid, problems: pid < 5 ? ["was: killed"] : [])
      process.warnings = [warning]
      return process
    }
    let processes =
      (1...4).map { warned($0, "hides leaks") } + [
        warned(5, "is a sample"), warned(6, "hides leaks"),
      ]
    var input = input(processes: processes)
    input.warnings = ["x.yml: an old format"]
    let result = GateResult(judging: input)
    let lines = try result.output(as: .text, root: root).split(separator: "\n").map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("Warning: ") } == [
        "Warning: x.yml: an old format", "Warning: app, 5 processes: hides leaks",
        "Warning: app (pid 5): is a sample",
      ])
    #expect(
      lines.filter { $0.hasPrefix("Not measured: ") }
        == ["Not measured: app, 4 processes: was: killed"])
    #expect(result.problems.count == 4)
    #expect(
      try result.output(as: .summary, root: root).contains("- app, 4 processes: was: killed\n"))
  }

  /// A name of a nested template has kilobytes: people see both its ends, machines and who asks all of it.
  @Test func longNamesAreShortenedForPeople() throws {
    let name = "Tree<" + String(repeating: "std::map<int, Leaf>, ", count: 100) + "End>"
    let short = "Tree<std::map<int, Leaf>, std::map<int, Leaf>, std::map<int,"
    #expect(short.count == 60)
    let end = "d::map<int, Leaf>, std::map<int, Leaf>, std::map<int, Leaf>, End>".suffix(59)
    var finding = leak(what: name, in: name)
    finding.tree = ["   1 (48 bytes) ROOT LEAK: <\(name) 0x5581a0> [48]"]
    finding.related = [.init(title: "freed by free", frames: [frame(name)])]
    let result = GateResult(judging: input([finding]))
    let lines = try result.output(as: .text, root: root).split(separator: "\n").map(String.init)
    #expect(lines.allSatisfy { $0.count <= 300 })
    #expect(
      lines.contains(
        "Memory leak: \(short)…\(end), 3 blocks, 48 B, allocated in \(short)…\(end) (list.c:12)"))
    #expect(lines.contains { $0.hasSuffix("End> 0x5581a0> [48]") && $0.count == 164 })
    #expect(lines.contains("    \(short)…\(end)  list.c:12"))
    #expect(lines.contains("    \(short)…\(end)"))
    for kind in [GateOutputKind.github, .summary] {
      #expect(try result.output(as: kind, root: root).utf8.count < 3000)
    }
    for kind in [GateOutputKind.json, .sarif] {
      #expect(try result.output(as: kind, root: root).contains(name))
    }
    #expect(try result.withFullNames.output(as: .text, root: root).contains(name))
  }

  /// Readers of JUnit know a case by its class and name: of two alike they drop one, or its history.
  @Test func junitHasNoTwoCasesOfOneName() throws {
    var deep = leak(bytes: 32)
    deep.frames.insert(frame("grow", "/src/app/list.c", 30), at: 1)
    deep.fingerprint = Fingerprint.of(.leak, what: "Node", frames: deep.frames)
    let result = GateResult(
      judging: input(
        [leak(), deep, leak(pid: 8), leak(in: "other")], processes: [checked(), checked(pid: 8)]))
    let junit = try result.output(as: .junit, root: root)
    let names = junit.split(separator: "\n").compactMap {
      $0.firstMatch(of: /<testcase classname="app" name="([^"]*)"/)?.1
    }
    let name = "Memory leak: Node in makeList (list.c)"
    #expect(
      names == [
        "Memory leak: Node in other (list.c)", "\(name) [\(leak().fingerprint)]",
        "\(name) [\(deep.fingerprint)]",
      ])
    #expect(junit.contains("tests=\"3\" failures=\"3\""))
    #expect(junit.contains("Memory leak: Node, 6 blocks, 96 B in 2 processes, allocated in"))
  }

  /// The IDs are others each time, and a case without a history is of little use.
  @Test func junitNamesProblemsWithoutTheIDsOfProcesses() throws {
    func names(_ problems: [String]) throws -> [String] {
      var input = input(processes: [checked()])
      input.problems = problems
      return try GateResult(judging: input).output(as: .junit, root: root).matches(
        of: /classname="memtrace.measurement" name="([^"]*)"/
      ).map { String($0.output.1) }
    }
    #expect(
      try names(["app (pid 12): was killed", "a child (pid 13): is gone"])
        == ["app: was killed", "a child: is gone"])
    let alike = ["app (pid 12): was killed", "app (pid 13): was killed"]
    #expect(try names(alike) == alike)
  }

  @Test(arguments: [GateOutputKind.github, .summary, .junit])
  func stacksEndWithMainAsInTheText(kind: GateOutputKind) throws {
    let text = try GateResult(judging: input([leak()])).output(as: kind, root: root)
    #expect(text.contains("    main  main.c:5"))
    #expect(!text.contains("__libc_start_main"))
  }

  @Test func problemsAreAnnotatedWithinTheLimit() throws {
    var input = input()
    input.problems = (1...12).map { "problem \($0)" }
    let lines = try GateResult(judging: input).output(as: .github, root: root).split(
      separator: "\n")
    #expect(lines.count == 10)
    #expect(lines[8] == "::warning title=memtrace could not measure::problem 9")
    #expect(
      lines[9] == """
        ::warning title=memtrace%3A 3 more problems::3 more problems are in the job summary and in \
        the report.
        """)
  }

  @Test func annotationsAreEscaped() throws {
    let result = GateResult(judging: input([leak(what: "50%\n::error::a,b:c\u{1b}[31m")]))
    let text = try result.output(as: .github, root: root)
    #expect(text.split(separator: "\n").count == 1)
    #expect(text.contains("50%25%0A::error::a,b:c\\x1b[31m"))
  }

  /// What would turn a line around, break it or colour it looks the same in all forms.
  @Test(arguments: [GateOutputKind.text, .github, .summary, .sarif, .junit, .xunit, .gitlab])
  func namesAreWrittenOutInEveryForm(kind: GateOutputKind) throws {
    let result = GateResult(judging: input([leak(what: "a\u{202e}b\u{2028}c\u{85}d\u{1b}[31m")]))
    let text = try result.output(as: kind, root: root).replacing("\\\\", with: "\\")
      .replacing("\\[", with: "[")
    #expect(text.contains("a\\u{202e}b\\u{2028}c\\x85d\\x1b[31m"))
    let raw: Set<Unicode.Scalar> = ["\u{202e}", "\u{2028}", "\u{85}", "\u{1b}"]
    #expect(raw.isDisjoint(with: text.unicodeScalars))
  }

  @Test func summariesStayBelowTheLimitOfGitHub() throws {
    let text = try many(5000).output(as: .summary, root: root)
    #expect(text.utf8.count < 1 << 20)
    #expect(text.contains("… and 4800 more findings."))
    let odd = GateResult(judging: input([leak(what: "a|b <b>`x`")]))
    #expect(
      try odd.output(as: .summary, root: root)
        .contains("| a\\|b &lt;b&gt;\\`x\\` | 3 | 48 B | `list.c:12` |"))
  }

  /// Whether the blocks of a cycle count references, the gate does not know.
  @Test func cyclesAreAdvisedOnWithCountsAndWithout() throws {
    let log = try GateResult(judging: input([leak(kind: .cycle)])).output(as: .sarif, root: root)
    #expect(log.contains("Where references are counted, break the cycle: make one of them weak"))
    #expect(log.contains("Where they are not, as in C, free all of the blocks where the last"))
    #expect(log.contains("reach zero, and where there are none, nothing can free them."))
  }

  @Test func junitHasACaseForEachFindingAndNeverNone() throws {
    let clean = try GateResult(judging: input()).output(as: .junit, root: root)
    #expect(clean.contains("tests=\"1\" failures=\"0\""))
    let odd = leak(what: "<a> & \"b\" \u{1} ]]>")
    let text = try GateResult(judging: input([odd, leak(kind: .cycle)]))
      .output(as: .junit, root: root)
    #expect(text.contains("<testsuites tests=\"2\" failures=\"2\" errors=\"0\">"))
    #expect(text.contains("&lt;a&gt; &amp; &quot;b&quot; \\x01 ]]&gt;"))
    #expect(text.contains("file=\"list.c\" line=\"12\""))
  }

  /// Jenkins' plugin xUnit refuses a file with an attribute more than its schema `junit-10.xsd` has.
  @Test func strictJUnitHasTheAttributesOfTheSchemaAlone() throws {
    let known = [
      "testsuites": ["tests", "failures", "errors"],
      "testsuite": ["name", "tests", "failures", "errors", "skipped", "time"],
      "testcase": ["classname", "name", "time"], "failure": ["message", "type"],
      "skipped": ["message"],
    ]
    var input = input([leak(), leak(in: "other", kind: .cycle)])
    input.rules = [try GateRule("leaks<=3")]
    let text = try GateResult(judging: input).output(as: .xunit, root: root)
    let elements = text.matches(of: /<([a-z]+)((?: [a-z]+="[^"]*")+)/)
    for element in elements {
      let names = element.output.2.matches(of: /\ ([a-z]+)=/).map { String($0.output.1) }
      #expect(names == known[String(element.output.1)], "\(element.output.0)")
    }
    #expect(elements.count == 6)
  }

  @Test func gitLabGetsUniqueFingerprintsAndRelativePaths() throws {
    let result = GateResult(judging: input([leak(pid: 7), leak(pid: 8), leak(kind: .doubleFree)]))
    let text = try result.output(as: .gitlab, root: root)
    let issues = try #require(
      JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    #expect(issues.count == 2)
    #expect(Set(issues.compactMap { $0["fingerprint"] as? String }).count == 2)
    #expect(issues.compactMap { $0["severity"] as? String }.sorted() == ["critical", "major"])
    let location = issues[0]["location"] as? [String: Any]
    #expect(location?["path"] as? String == "list.c")
  }

  @Test func sarifHasRulesPlacesAndFlows() throws {
    var known = leak(kind: .doubleFree)
    known.related = [Finding.RelatedStack(title: "freed first by free", frames: known.frames)]
    let text = try GateResult(judging: input([leak(), known])).output(as: .sarif, root: root)
    let log = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let run = try #require((log["runs"] as? [[String: Any]])?.first)
    let driver = (run["tool"] as? [String: Any])?["driver"] as? [String: Any]
    #expect(driver?["semanticVersion"] as? String == "1.2.3")
    let rules = try #require(driver?["rules"] as? [[String: Any]])
    let results = try #require(run["results"] as? [[String: Any]])
    #expect(results.count == 2)
    for result in results {
      let index = try #require(result["ruleIndex"] as? Int)
      #expect(rules[index]["id"] as? String == result["ruleId"] as? String)
      let location = (result["locations"] as? [[String: Any]])?.first
      let physical = location?["physicalLocation"] as? [String: Any]
      let artifact = physical?["artifactLocation"] as? [String: Any]
      #expect(artifact?["uri"] as? String == "list.c")
      let prints = result["partialFingerprints"] as? [String: String]
      #expect(prints?["primaryLocationLineHash"]?.utf8.count == 16)
    }
    #expect(text.contains("\"text\":\"freed first by free\""))
  }

  /// GitHub keeps of logs with one name that of the last upload.
  @Test func sarifIsNamedByTheCommand() throws {
    func name(_ input: GateInput) throws -> String {
      let text = try GateResult(judging: input).output(as: .sarif, root: root)
      let start = try #require(text.range(of: "\"automationDetails\":{\"id\":\"")).upperBound
      return String(text[start...].prefix { $0 != "\"" })
    }
    var run = input(processes: [checked("dash")])
    #expect(try name(run) == "memtrace/dash/")
    run.commandName = "unit-tests.sh"
    #expect(try name(run) == "memtrace/unit-tests.sh/")
  }

  /// GitHub shows 5,000 results, and takes those of one fingerprint for one.
  @Test func sarifHasWhatManyProcessesHaveOnce() throws {
    let names = Array(repeating: "app", count: 18) + ["client", "client"]
    let workers = names.enumerated().map { leak(process: $1, pid: UInt32($0)) }
    let processes = names.enumerated().map { checked($1, pid: UInt32($0)) }
    let findings = workers + [leak(bytes: 40, in: "other", pid: 1)]
    let log = SARIFLog(GateResult(judging: input(findings, processes: processes)), root: root)
    let results = try #require(log.runs.first?.results)
    #expect(
      results.map(\.message.text) == [
        "Memory leak: Node, 60 blocks, 960 B in 20 processes, allocated in makeList (list.c:12)",
        "Memory leak: Node, 3 blocks, 40 B, allocated in other (list.c:12)",
      ])
    #expect(results.map(\.occurrenceCount) == [20, nil])
    #expect(results.map(\.properties.process) == ["app, client", "app"])
    #expect(results.map(\.properties.count) == [60, 3])
  }

  /// Viewers take `[](int)` for a link without a text.
  @Test func sarifHasNoLinksInNames() throws {
    var finding = leak(what: "malloc in Row::operator[](int)", in: "Row::operator[](int)")
    finding.frames += [frame("run<main::{lambda()#2}>", "/src/app/main.c", 4)]
    let result = GateResult(judging: input([finding]))
    let text = try result.output(as: .sarif, root: root)
    #expect(text.ranges(of: "\"text\":\"Row::operator[] (int)\"").count == 1)
    #expect(text.contains("Memory leak: malloc in Row::operator[] (int), 3 blocks"))
    #expect(text.contains("\"text\":\"run<main::{lambda()#2}>\""))
    #expect(
      text.ranges(of: "[](").count == text.ranges(of: "Name\":\"Row::operator[](int)\"").count)
    #expect(try result.output(as: .github, root: root).contains("Row::operator[](int)"))
  }

  /// Whole stacks of 16,000 findings were 1.4 GB.
  @Test func sarifHasTheInnermostFramesOnlyOfManyFindings() throws {
    func steps(_ depth: Int, inEachOf count: Int) throws -> [String?] {
      let frames = (0..<depth).map { frame("level\($0)", "/src/app/list.c", $0 + 1) }
      let findings = (1...count).map { number in
        var finding = leak(in: "f\(number)")
        finding.frames = frames
        return finding
      }
      let log = SARIFLog(GateResult(judging: input(findings)), root: root)
      let results = try #require(log.runs.first).results
      #expect(results.count == count)
      let flow = try #require(results.last?.codeFlows?.first?.threadFlows.first)
      return flow.locations.map { $0.location.message?.text }
    }
    #expect(try steps(120, inEachOf: 1) == (0..<100).reversed().map { "level\($0)" })
    #expect(try steps(12, inEachOf: 12_000) == (0..<10).reversed().map { "level\($0)" })
    #expect(SARIFLog.Limit.steps(inEachOf: 2000) == 50)
  }

  @Test func sarifHasLongNamesOnceAndNoBlanksBetweenValues() throws {
    var finding = leak()
    finding.frames[0].name = String(repeating: "n", count: 1000)
    finding.responsible = finding.frames[0]
    let text = try GateResult(judging: input([finding])).output(as: .sarif, root: root)
    let whole = "\"fullyQualifiedName\":\"\(finding.frames[0].name)\""
    #expect(text.contains(whole))
    #expect(text.contains("\"message\":{\"text\":\"nnn"))
    #expect(!text.contains("\"text\":\"\(finding.frames[0].name)\""))
    #expect(!text.contains("\" : "))
  }

  @Test func longNamesAreShortenedForPeopleOnly() {
    var (long, short) = (leak(), leak())
    for index in long.frames.indices {
      long.frames[index].name = String(repeating: "n", count: 121)
    }
    long.related = [.init(title: "allocated by malloc", frames: long.frames + short.frames)]
    short.fingerprint = "other"
    let result = GateResult(judging: input([long, short]))
    let shown = result.forPeople.findings.first { $0.fingerprint == long.fingerprint }
    let name = String(repeating: "n", count: 60) + "…" + String(repeating: "n", count: 59)
    #expect(shown?.frames.map(\.name) == long.frames.map { _ in name })
    #expect(
      shown?.related.first?.frames.map(\.name)
        == long.frames.map { _ in name } + short.frames.map(\.name))
    #expect(result.findings.contains { $0.frames == long.frames })
    #expect(result.forPeople.findings.contains { $0.frames == short.frames })
  }

  /// The lines that CTest counts: its expressions are in cmCTestMemCheckHandler.cxx.
  @Test func valgrindLogsHaveTheLinesThatCTestCounts() throws {
    var tested = leak(kind: .doubleFree)
    tested.tests = TestEvidence()
    tested.tests?.alone = ["List.Grows"]
    let text = try GateResult(judging: input([leak(), leak(kind: .mismatchedFree), tested]))
      .output(as: .valgrind, root: root)
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.allSatisfy { $0.hasPrefix("==7== ") })
    #expect(lines.contains("==7== 48 bytes in 3 blocks are definitely lost in loss record 1 of 1"))
    #expect(lines.contains("==7== Mismatched free() / delete / delete []"))
    #expect(lines.contains("==7== Invalid free() / delete / delete[] / realloc()"))
    #expect(lines.contains("==7==  while the test List.Grows ran"))
    #expect(lines.contains("==7==    at 0x0: makeList (list.c:12)"))
    #expect(lines.contains("==7==    by 0x0: main (main.c:5)"))
    #expect(lines.last == "==7== ERROR SUMMARY: 3 errors from 3 contexts (suppressed: 0 from 0)")
  }

  /// As Valgrind has it; in a flow of GitHub it would be the first step, in a file that is not there.
  @Test(arguments: [GateOutputKind.valgrind, .sarif])
  func whatStartsAProgramIsInNoLog(kind: GateOutputKind) throws {
    var finding = leak(kind: .doubleFree)
    finding.frames.append(
      frame("__libc_start_call_main", "./csu/../libc_start_call_main.h", 58, role: .system))
    finding.related = [Finding.RelatedStack(title: "freed first by free", frames: finding.frames)]
    let text = try GateResult(judging: input([finding])).output(as: kind, root: root)
    #expect(text.contains("main.c"))
    #expect(!text.contains("libc_start"))
  }

  @Test func pathsOutsideTheRepositoryAreNoPlaces() {
    let outside = SourceRoot("/elsewhere")
    #expect(outside.place(of: leak()) == nil)
    var finding = leak()
    finding.frames.append(
      frame("__libc_start_call_main", "./csu/../libc_start_call_main.h", 58, role: .system))
    finding.frames.append(frame("sum", "../other/sum.c", 4))
    finding.frames.append(frame("start", "csu/start.c", 4, role: .system))
    #expect(outside.place(of: finding) == nil)
    finding.frames.append(frame("main", "src/main.c", 5))
    #expect(outside.place(of: finding)?.path == "src/main.c")
    #expect(SourceRoot("/src/app/").place(of: leak())?.uri == "list.c")
    #expect(SourceRoot.Place(path: "a b/ü%.c", line: 1, isInside: true).uri == "a%20b/%C3%BC%25.c")
  }

  /// Builds in a folder of their own (Meson, CMake with Ninja, Autotools) name sources by `..`.
  @Test(arguments: [
    ("/src/app/build/../lib//a.c", "lib/a.c", true), ("/src/app/./a.c", "a.c", true),
    ("/tmp/build/../../src/app/a.c", "a.c", true), ("./lib/a.c", "lib/a.c", true),
    ("build/../lib/a.c", "lib/a.c", true), ("/proc/self/cwd/lib/a.c", "lib/a.c", true),
    ("/src/app/../lib/a.c", "/src/lib/a.c", false), ("build/../../lib/a.c", "../lib/a.c", false),
    ("/../src/application/a.c", "/src/application/a.c", false),
  ])
  func placesHaveNoDetours(file: String, path: String, isInside: Bool) throws {
    let place = try #require(root.place(of: frame("f", file, 4)))
    #expect(place.path == path)
    #expect(place.isInside == isInside)
  }

  @Test func checkoutsBehindASymbolicLinkAreInside() throws {
    let scratch = try ScratchDirectory()
    let manager = FileManager.default
    let (real, link) = (
      scratch.path.appending("real").string, scratch.path.appending("link").string
    )
    try manager.createDirectory(atPath: real, withIntermediateDirectories: false)
    try manager.createSymbolicLink(atPath: link, withDestinationPath: "real")
    #expect(manager.createFile(atPath: real + "/a.c", contents: nil))
    for (root, folder) in [(real, link), (link, real)] {
      let place = SourceRoot(root).place(of: frame("f", folder + "/a.c", 4))
      #expect(place?.path == "a.c")
      #expect(place?.isInside == true)
    }
  }

  @Test func summariesKeepTheirColumns() throws {
    var finding = leak()
    finding.frames = [frame("f", "/src/app/a|`b\n.c", 4)]
    finding.responsible = finding.frames[0]
    let summary = try GateResult(judging: input([finding])).output(as: .summary, root: root)
    #expect(summary.contains(#"| `` a\|`b\n.c:4 `` |"#))
  }

  @Test func staleEntriesThatFailTheGateAreFailuresInEveryForm() throws {
    var input = input()
    input.baseline = Baseline(renewing: Baseline(), findings: [leak()], processes: [])
    input.baselineName = "ci/leaks.yml"
    let told = GateResult(judging: input)
    let name = "Node in makeList (list.c) (\(leak().fingerprint))"
    #expect(
      try told.output(as: .github, root: root)
        == "::notice title=memtrace%3A stale baseline entry::\(name) was not found any more.\n")
    #expect(try told.output(as: .junit, root: root).contains("tests=\"1\" failures=\"0\""))
    #expect(try told.output(as: .gitlab, root: root).contains("MT017") == false)

    input.failsOnStale = true
    let failing = GateResult(judging: input)
    #expect(
      try failing.output(as: .github, root: root)
        == "::error title=memtrace%3A stale baseline entry::\(name) was not found any more.\n")
    let junit = try failing.output(as: .junit, root: root)
    #expect(junit.contains("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""))
    #expect(
      junit.contains("<failure message=\"\(name) was not found; take it out\" type=\"stale\">"))
    let summary = try failing.output(as: .summary, root: root)
    #expect(
      summary.hasPrefix(
        """
        ## memtrace: failed, 0 findings, 1 stale entry of the baseline

        **Stale in the baseline:**

        - \(name) was not found


        """))
    let issues = try #require(
      JSONSerialization.jsonObject(
        with: Data(try failing.output(as: .gitlab, root: root).utf8)) as? [[String: Any]])
    #expect(issues.map { $0["check_name"] as? String } == ["MT017"])
    #expect((issues[0]["location"] as? [String: Any])?["path"] as? String == "ci/leaks.yml")
    #expect(
      try failing.output(as: .sarif, root: root).contains(
        "\"text\":\"stale in the baseline: \(name) was not found\""))
    #expect(
      try failing.output(as: .text, root: root).contains(
        "memtrace check failed: 0 findings, 1 stale entry of the baseline."))
  }

  /// Who runs some of the tests finds nothing of what the others leak.
  @Test func manyStaleEntriesThatFailNothingAreAFew() throws {
    var input = input()
    let findings = (1...12).map { leak(in: "make\($0)") }
    input.baseline = Baseline(renewing: Baseline(), findings: findings, processes: [])
    func lines() throws -> [Substring] {
      try GateResult(judging: input).output(as: .text, root: root).split(separator: "\n")
        .filter { $0.hasPrefix("Stale in the baseline: ") }
    }
    let told = try lines()
    #expect(told.count == 11)
    #expect(told.last == "Stale in the baseline: … 2 more entries; --output json has all")
    input.failsOnStale = true
    #expect(try lines().count == 12)
  }

  @Test func whatTheRulesAllowIsNoFailureInAnyForm() throws {
    var input = input([leak(), leak(in: "other", kind: .cycle)])
    input.rules = [try GateRule("leaks<=3"), try GateRule("cycles<=1")]
    let passing = GateResult(judging: input)
    #expect(passing.verdict == .pass)
    #expect(passing.findings.map(\.isAllowed) == [true, true])
    let junit = try passing.output(as: .junit, root: root)
    #expect(junit.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""))
    #expect(junit.contains("<skipped message=\"allowed by the rules\"/>"))
    let lines = try passing.output(as: .github, root: root).split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.hasPrefix("::notice file=list.c,line=12,") })
    #expect(lines.allSatisfy { $0.contains("%0Aallowed by the rules%0A") })
    let sarif = try passing.output(as: .sarif, root: root)
    #expect(sarif.ranges(of: "\"level\":\"note\"").count == 2)
    let gitLab = try passing.output(as: .gitlab, root: root)
    #expect(gitLab.ranges(of: "\"severity\" : \"info\"").count == 2)
    #expect(
      try passing.output(as: .text, root: root).contains(
        "memtrace check passed, 2 allowed by the rules.\n"))

    // Only what the broken rule speaks of fails.
    input.rules = [try GateRule("leaks<=2"), try GateRule("cycles<=1")]
    let failing = GateResult(judging: input)
    #expect(failing.findings.map(\.isAllowed) == [false, true])
    #expect(
      try failing.output(as: .text, root: root).contains(
        "memtrace check failed: 1 finding, 1 allowed by the rules.\n"))
    #expect(
      try failing.output(as: .github, root: root).split(separator: "\n").map { $0.prefix(8) }
        == ["::error ", "::error ", "::notice"])
  }

  @Test func whatNoRuleSpeaksOfIsAllowed() throws {
    var input = input([leak(pid: 7), leak(pid: 8)], processes: [checked(pid: 7), checked(pid: 8)])
    input.rules = [try GateRule("leaks[function=make*]<=2"), try GateRule("leaks<=0")]
    #expect(GateResult(judging: input).findings.map(\.isAllowed) == [false, false])
    input.findings[1].count = 2
    let result = GateResult(judging: input)
    #expect(result.findings.map(\.pid) == [7, 8])
    #expect(result.findings.map(\.isAllowed) == [false, true])
    input.rules = [try GateRule("peak<=1MiB")]
    #expect(GateResult(judging: input).findings.map(\.isAllowed) == [true, true])
  }

  @Test func whatIsMeasuredAndWhatIsAllowedAreWrittenAlike() throws {
    var input = input(processes: [checked(peak: 27_679)])
    input.rules = [try GateRule("peak<=10KiB"), try GateRule("allocations<=3")]
    let result = GateResult(judging: input)
    let text = try result.output(as: .text, root: root)
    #expect(text.contains(/peak<=10KiB +app \(pid 7\) +27\.03 KiB +10\.00 KiB\n/))
    #expect(text.contains(/allocations<=3 +app \(pid 7\) +10 allocations +3\n/))
    let exact = try result.output(as: .text, style: TextStyle(bytes: .exact), root: root)
    #expect(exact.contains(/peak<=10KiB +app \(pid 7\) +27,679 +10,240\n/))
    #expect(
      try result.output(as: .summary, root: root).contains("| 27.03 KiB | 10.00 KiB |\n"))
    #expect(
      try result.output(as: .github, root: root).contains(
        "::app (pid 7): 27.03 KiB, at most 10.00 KiB allowed\n"))
    #expect(
      try result.output(as: .junit, root: root).contains(
        "message=\"27.03 KiB, at most 10.00 KiB allowed\""))
    // Rounded they would be the same.
    input.processes = [checked(peak: 10_241)]
    #expect(
      try GateResult(judging: input).output(as: .github, root: root).contains(
        "::app (pid 7): 10,241, at most 10,240 allowed\n"))
  }

  @Test func processesThatAreNotCheckedAreListedByProgram() throws {
    let other = { (name: String, pid: UInt32) in
      var process = checked(name, pid: pid)
      (process.isChosen, process.measures) = (false, nil)
      return process
    }
    let processes = [other("git", 1), other("make", 2), checked(), other("git", 3)]
    let result = GateResult(judging: input(processes: processes))
    let lines = try result.output(as: .text, root: root).split(separator: "\n").prefix(4)
    #expect(
      lines == [
        "  app (pid 7): 0 leaked blocks, 0 memory errors", "  git, 2 processes: not chosen",
        "  make (pid 2): not chosen", "memtrace check passed.",
      ])
    let summary = try result.output(as: .summary, root: root)
    #expect(summary.contains("| git, 2 processes |  | not chosen |\n| make (pid 2) "))
  }

  @Test func theLastLineIsForPrograms() throws {
    let text = try GateResult(judging: input([leak(), leak(kind: .cycle)]))
      .output(as: .text, root: root)
    #expect(
      text.split(separator: "\n").last == """
        memtrace-check: verdict=fail exit=86 host=none processes=1 findings=2 leaks=3 \
        leaked_bytes=96 cycles=1 errors=0 baselined=0 suppressed=0 stale=0 unmeasured=0
        """)
  }
}
