import Testing

@testable import Reports

@Suite struct ShellTextTests {
  @Test(arguments: [
    ("./app", "./app"), ("", "''"), ("two words", "'two words'"), ("it's", #"'it'\''s'"#),
    ("back\\slash", #"'back\slash'"#),
  ])
  func wordsAreQuotedAsFarAsTheyNeedIt(word: String, quoted: String) {
    #expect(ShellText.quoted(word) == quoted)
  }

  /// Such a word is printed with its control characters written out, in single quotes as no shell
  /// reads them.
  @Test(arguments: [
    ("a\nb\t", #"$'a\nb\t'"#), ("\u{1b}[31mit's\\", #"$'\x1b[31mit\'s\\'"#),
    ("\u{9b}ü\u{202e}", #"$'\xc2\x9bü\xe2\x80\xae'"#),
  ])
  func controlCharactersCanBeTyped(word: String, quoted: String) {
    #expect(ShellText.quoted(word) == quoted)
    #expect(quoted.printable == quoted)
  }
}
