import Testing

@testable import Reports

@Suite struct StackTextTests {
  private func text(_ roles: [ReportFrame.Role], limit: Int) -> String {
    let frames = roles.enumerated().map { ReportFrame(name: "\($1)\($0)", role: $1) }
    var page = TextPage()
    StackText.write(frames, to: &page, indent: 0, limit: limit)
    return page.text.split(separator: "\n").joined(separator: " | ")
  }

  @Test func framesOfRuntimesAtTheLeafAreLeftOut() {
    #expect(text([.runtime, .user, .runtime, .user], limit: 4) == "user1 | runtime2 | user3")
    #expect(text([.runtime, .system, .user], limit: 4) == "system1 | user2")
  }

  @Test func aStackWithoutAFrameOfTheUserIsShownWhole() {
    #expect(text([.runtime, .system], limit: 4) == "runtime0 | system1")
    #expect(text([.runtime, .runtime], limit: 4) == "runtime0 | runtime1")
  }

  /// What the standard library of Rust has around `main` and around the closure of a thread.
  @Test func whatStartsARustProgramIsLeftOut() {
    func shown(_ names: [String]) -> [String] {
      let frames = names.map { name in
        ReportFrame(name: name, role: name.hasPrefix("app::") || name == "main" ? .user : .system)
      }
      return StackText.telling(frames).map(\.name)
    }
    let call = "core::ops::function::FnOnce::call_once<fn(), ()>"
    let start = [
      "std::sys::backtrace::__rust_begin_short_backtrace<fn(), ()>",
      "std::rt::lang_start::{{closure}}", "std::rt::lang_start<()>", "main", "__libc_start_main",
    ]
    #expect(shown(["app::work", "app::main", call] + start) == ["app::work", "app::main"])
    #expect(shown(["app::main::{closure#0}"] + start) == ["app::main::{closure#0}"])
    #expect(shown(["std::io::print", call] + start) == ["std::io::print"])
    let test = [
      call, "<fn() -> app::Result as core::ops::function::FnOnce<()>>::call_once",
      "test::__rust_begin_short_backtrace", "test::run_test",
    ]
    #expect(shown(["app::tests::works"] + test + start) == ["app::tests::works"])
    #expect(shown([call] + start) == [call] + start.dropLast())
    #expect(shown(["app::work", call, "main"]) == ["app::work", call, "main"])
  }

  /// On a machine without debug information of the C library: what is local to it has no name.
  @Test func whatStartsAProgramIsLeftOutWithoutItsName() {
    func unnamed(_ library: String) -> ReportFrame {
      ReportFrame(
        name: "\(library)+0x29ca8", image: "/lib/x86_64-linux-gnu/\(library)", role: .system)
    }
    func shown(_ frames: [ReportFrame]) -> [String] { StackText.telling(frames).map(\.name) }
    let main = ReportFrame(name: "main", symbol: "main", image: "/root/app")
    let start = ReportFrame(
      name: "__libc_start_main", symbol: "__libc_start_main", image: "/lib/libc.so.6", role: .system
    )
    #expect(shown([main, unnamed("libc.so.6"), start]) == ["main"])
    #expect(shown([main, unnamed("libc-2.31.so"), unnamed("libpthread-2.31.so")]) == ["main"])
    #expect(shown([main, unnamed("libstdc++.so.6"), unnamed("libc.so.6")]) == ["main"])
    let inner = [unnamed("libc.so.6"), main, unnamed("libc.so.6")]
    #expect(shown(inner) == ["libc.so.6+0x29ca8", "main"])
    #expect(shown([main, unnamed("libfoo.so"), start]) == ["main", "libfoo.so+0x29ca8"])
    #expect(shown([main, unnamed("ld-linux-x86-64.so.2")]).count == 2)
  }

  private func text(_ names: String, limit: Int = .max) -> String {
    var page = TextPage()
    let frames = names.map {
      ReportFrame(name: String($0), role: $0.isUppercase ? .user : .system)
    }
    StackText.write(frames, to: &page, indent: 0, limit: limit)
    return page.text.split(separator: "\n").joined(separator: " | ")
  }

  @Test func recursionIsToldOnce() {
    #expect(text("AAM") == "A | A | M")
    #expect(text("AAAM") == "A | … the same frame 2 more times | M")
    #expect(
      text("X" + String(repeating: "PE", count: 1001) + "M")
        == "X | P | E | … the same 2 frames 1,000 more times | M")
    #expect(text("ABABABA") == "A | B | … the same 2 frames 2 more times | A")
    #expect(
      text("AABAABAABM") == "A | A | B | … the same 3 frames 2 more times | M")
    #expect(text("ABABM") == "A | B | A | B | M")
  }

  /// Nine functions in turn: nobody would see the pattern.
  @Test func longPatternsAreNot() {
    let long = String(repeating: "ABCDEFGHI", count: 3)
    #expect(text(long).split(separator: "|").count == 27)
    let short = String(repeating: "ABCDEFGH", count: 3)
    #expect(text(short).hasSuffix("H | … the same 8 frames 2 more times"))
  }

  @Test func recursionCountsAsItsFramesBeyondTheLimit() {
    #expect(text("XYAAAAM", limit: 3) == "X | Y | A | … 4 more frames")
    #expect(text("aaaabM", limit: 2) == "a | … 4 more frames | M")
  }

  @Test func theFrameOfTheUserIsShownBeyondTheLimit() {
    #expect(
      text([.system, .system, .system, .system, .user, .user], limit: 2)
        == "system0 | … 3 more frames | user4 | … 1 more frame")
    #expect(text([.system, .user], limit: 1) == "… 1 more frame | user1")
    #expect(text([.system, .user, .user], limit: 2) == "system0 | user1 | … 1 more frame")
    #expect(text([.system, .system, .system], limit: 2) == "system0 | system1 | … 1 more frame")
  }
}
