import Reports
import Testing
import TraceReader

@testable import LeakGate

@Suite struct FingerprintTests {
  @Test func linesAndAddressesDoNotCount() {
    #expect(leak(line: 12).fingerprint == leak(line: 99).fingerprint)
    let moved = [frame("makeList", "/other/checkout/list.c", 1), frame("main")]
    let plain = [frame("makeList"), frame("main")]
    #expect(
      Fingerprint.of(.leak, what: "Node", frames: moved)
        == Fingerprint.of(.leak, what: "Node", frames: plain))
  }

  /// Who mends the first stack has to know of the others.
  @Test func otherStacksOfOneFingerprintAreShown() throws {
    var collector = FindingCollector(
      process: "app", pid: 7, trace: nil,
      tests: TestTimeline([], clock: TraceClock(header: TraceHeader())))
    collector.add(leak(count: 1, bytes: 77, line: 12))
    #expect(collector.findings.map(\.stackCount) == [nil])
    for line in [12, 14, 14, 16, 18, 20] { collector.add(leak(count: 1, bytes: 79, line: line)) }

    let finding = try #require(collector.findings.first)
    #expect(collector.findings.count == 1)
    #expect(finding.stackCount == 5)
    #expect(finding.frames.first?.line == 12)
    #expect(finding.related.map { $0.frames.first?.line } == [14, 16, 18])
    #expect(Set(finding.related.map(\.title)) == ["also from this stack"])
    #expect(
      finding.sentence()
        == "Memory leak: Node, 7 blocks, 551 B from 5 stacks, allocated in makeList (list.c:12)")
  }

  @Test func whatItIsCounts() {
    let fingerprints = [
      leak(), leak(what: "Edge"), leak(in: "makeTree"), leak(kind: .cycle),
    ].map(\.fingerprint)
    #expect(Set(fingerprints).count == 4)
    #expect(fingerprints.allSatisfy { $0.utf8.count == 16 })
  }

  @Test func recursionStandsOnce() {
    let deep = [frame("visit"), frame("visit"), frame("visit"), frame("main")]
    #expect(normalised(deep) == ["visit", "main"])
  }

  /// What names were made before changes nothing.
  @Test func namesThatAreKnownAreTheSame() {
    var names = NormalisedNames()
    for _ in 0..<2 {
      #expect(
        names.names([frame("Stack<Int>.push(_:)"), frame("parse.cold")]) == [
          "Stack.push(_:)", "parse",
        ])
      #expect(
        Fingerprint.of(.leak, what: "Node<Int>", frames: [frame("parse.cold")], &names)
          == Fingerprint.of(.leak, what: "Node<Int>", frames: [frame("parse.cold")]))
    }
  }

  private func normalised(_ frames: [ReportFrame]) -> [String] {
    var names = NormalisedNames()
    return names.names(frames)
  }

  @Test func onlyTheProgramsFramesCount() {
    let own = [frame("makeList")]
    let more = [
      frame("g_malloc", image: "/usr/lib/libglib-2.0.so.0", role: .runtime), frame("makeList"),
      frame("__libc_start_main", image: "/lib/libc.so.6", role: .system),
    ]
    #expect(normalised(own) == normalised(more))
    let system = [frame("start_thread", image: "/lib/libc.so.6", role: .system)]
    #expect(normalised(system) == ["start_thread"])
  }

  @Test(arguments: [
    ("closure #1 in Server.handle(_:)", "closure in Server.handle(_:)"),
    ("closure #2 in Server.handle(_:)", "closure in Server.handle(_:)"),
    ("makeBeta(_:) [merged]", "makeBeta(_:)"),
    ("Stack<Int>.push(_:)", "Stack.push(_:)"),
    (
      "std::vector<int, std::allocator<int>>::push_back(int const&)",
      "std::vector::push_back"
    ),
    ("operator<<(std::ostream&, Foo const&)", "operator<<"),
    ("Iter::operator->()", "Iter::operator->"),
    ("main::{lambda(int)#2}::operator()(int)", "main::::operator()"),
    ("main::<lambda>::operator()", "main::::operator()"),
    ("main::$_12::operator()(int) const", "main::::operator()"),
    ("app::load(int)::{lambda()#1}::operator()() const", "app::load::::operator()"),
    ("app::load::<lambda>::operator()", "app::load::::operator()"),
    (
      "f(std::function<void (int)>) const::{lambda()#1}::operator()() const::{lambda()#2}::operator()()",
      "f::::operator()::::operator()"
    ),
    ("f::<lambda>::operator()::<lambda>::operator()", "f::::operator()::::operator()"),
    ("f(int (*)(char))::Local::run()", "f::Local::run"),
    ("Functor::operator()() const &", "Functor::operator()"),
    ("(anonymous namespace)::make(std::function<void (int)>) [clone .part.0]", "make"),
    ("make", "make"), ("malloc in copy(char const*)", "malloc in copy"),
    ("(Int, String)", "(Int, String)"), ("main.(*Server).Run", "main.(*Server).Run"), ("f(", "f("),
    ("parse.constprop.0", "parse"), ("parse [clone .part.3]", "parse"), ("f.llvm.123", "f"),
    ("alloc::vec::push::h0123456789abcdef", "alloc::vec::push"),
    ("libfoo.so.1.2+0x1234", "libfoo.so"), ("0x7f1234", "code"), ("app+0x12", "app"),
    ("<unknown>", "<unknown>"), (".hidden", ".hidden"),
  ])
  func namesLoseWhatChangesFromBuildToBuild(_ name: String, _ normalised: String) {
    #expect(FunctionText.normalised(name) == normalised)
  }

  @Test(arguments: [
    ("libx.so.1.2", "libx.so"), ("libx-2.31.so", "libx.so"), ("libx-y.so", "libx-y.so"),
    ("app", "app"), ("app.xctest", "app.xctest"),
  ])
  func imagesLoseTheirVersions(_ name: String, _ normalised: String) {
    #expect(ImageText.normalised(name) == normalised)
  }
}
