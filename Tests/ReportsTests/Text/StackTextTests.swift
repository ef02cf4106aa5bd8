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

  @Test func theFrameOfTheUserIsShownBeyondTheLimit() {
    #expect(
      text([.system, .system, .system, .system, .user, .user], limit: 2)
        == "system0 | … 3 more frames | user4 | … 1 more frame")
    #expect(text([.system, .user], limit: 1) == "… 1 more frame | user1")
    #expect(text([.system, .user, .user], limit: 2) == "system0 | user1 | … 1 more frame")
    #expect(text([.system, .system, .system], limit: 2) == "system0 | system1 | … 1 more frame")
  }
}
