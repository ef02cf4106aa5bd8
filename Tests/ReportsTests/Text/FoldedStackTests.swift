import Testing

@testable import Reports

/// Stacks of recursions.
@Suite struct FoldedStackTests {
  /// Frames, one for each letter, and their lines.
  private func lines(_ names: String, limit: Int = .max) -> String {
    let frames = names.map { ReportFrame(name: String($0), role: .user) }
    var page = TextPage()
    StackText.write(frames, to: &page, indent: 0, limit: limit)
    return page.text.split(separator: "\n").joined(separator: " | ")
  }

  @Test(arguments: [
    ("m", "m"),
    ("aaam", "a | a | a | m"),
    ("aaaam", "a | … 3 times more | m"),
    ("aaaa", "a | … 3 times more"),
    ("xaaaaym", "x | a | … 3 times more | y | m"),
    ("ababm", "a | b | a | b | m"),
    ("abababm", "a | b | … these 2 frames 2 times more | m"),
    ("ababababam", "a | b | … these 2 frames 3 times more | a | m"),
    ("abcabcm", "a | b | c | a | b | c | m"),
    ("abcabcabcm", "a | b | c | … these 3 frames 2 times more | m"),
    ("aaaabbbbm", "a | … 3 times more | b | … 3 times more | m"),
    (
      "abcdefghabcdefghabcdefghm",
      "a | b | c | d | e | f | g | h | … these 8 frames 2 times more | m"
    ),
    (
      "abcdefghiabcdefghim",
      "a | b | c | d | e | f | g | h | i | a | b | c | d | e | f | g | h | i | m"
    ),
  ])
  func callsThatComeAgainStandOnce(names: String, expected: String) {
    #expect(lines(names) == expected)
  }

  @Test func aThousandFramesAreALineOrTwo() {
    #expect(lines(String(repeating: "a", count: 1235) + "m") == "a | … 1,234 times more | m")
  }

  @Test func whatIsLeftOutIsCountedInFrames() {
    #expect(lines("xyaaaaaaaam", limit: 3) == "x | y | a | … 8 more frames")
    #expect(lines("aaaaaaaaxym", limit: 3) == "a | … 7 times more | x | … 2 more frames")
  }

  @Test func framesThatReadDifferentlyAreDifferent() {
    let frames = (0..<6).map { ReportFrame(name: "f", isInlined: $0 % 2 == 0, role: .user) }
    var page = TextPage()
    StackText.write(frames, to: &page, indent: 0)
    #expect(page.text.split(separator: "\n").count == 3)
  }
}
