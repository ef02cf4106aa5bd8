import CInterpose
import Testing

@Suite struct TextTests {
  /// What the recorder's text builder makes of a series of additions.
  private func build(capacity: Int, _ body: (inout mt_text) -> Void) -> (String, Bool) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
      var text = mt_text_begin(buffer.baseAddress, capacity)
      body(&text)
      return (String(cString: buffer.baseAddress ?? text.bytes), text.cut)
    }
  }

  @Test func numbersAndHexAreAppended() {
    let (text, cut) = build(capacity: 64) { text in
      mt_text_add(&text, "pid ")
      mt_text_add_number(&text, 0)
      mt_text_add(&text, " ")
      mt_text_add_number(&text, .max)
      mt_text_add(&text, " ")
      mt_text_add_hex(&text, [0x00, 0xab, 0xff], 3)
    }
    #expect(text == "pid 0 18446744073709551615 00abff")
    #expect(!cut)
  }

  @Test(
    arguments: [
      ("0", 0), ("4096", 4096), ("512k", 512 << 10), ("512KiB", 512 << 10), ("2MB", 2 << 20),
      ("7B", 7), ("3g", 3 << 30), ("1TiB", 1 << 40), ("16383P", 16383 << 50),
    ] as [(String, UInt64)])
  func sizesMayHaveAUnit(_ text: String, _ expected: UInt64) {
    var bytes: UInt64 = 1
    #expect(mt_text_parse_bytes(text, &bytes))
    #expect(bytes == expected)
  }

  @Test(
    arguments: [
      "", "k", "-1", "1.5k", "1x", "1kk", "1KiBs", "1iB", "16384P", "99999999999999999999",
    ])
  func whatIsNoSizeIsRefused(_ text: String) {
    var bytes: UInt64 = 1
    #expect(!mt_text_parse_bytes(text, &bytes))
    #expect(bytes == 1)
  }

  @Test func aFullBufferCutsAndSaysSo() {
    let (text, cut) = build(capacity: 5) { mt_text_add(&$0, "abcdefgh") }
    #expect(text == "abcd")
    #expect(cut)
  }

  @Test(arguments: [
    ("0", 0 as UInt64?), ("42", 42), ("18446744073709551615", nil), ("", nil), ("-1", nil),
    ("1 ", nil), ("0x10", nil),
  ])
  func numbersAreParsedStrictly(_ string: String, _ expected: UInt64?) {
    var number: UInt64 = 0
    let isNumber = mt_text_parse_number(string, &number)
    // The greatest number is refused as well: the overflow check leaves a margin.
    #expect((isNumber ? number : nil) == expected)
  }

  @Test(
    arguments: [
      ("", 0, ""), ("g", 0, "g"), ("0", 0, ""), ("7f-80", 0x7f, "-80"),
      ("ffffffffffffffff\n", .max, "\n"),
    ] as [(String, UInt64, String)])
  func hexIsTakenAsFarAsItGoes(_ text: String, _ number: UInt64, _ rest: String) {
    text.withCString { start in
      var at: UnsafePointer<CChar>? = start
      #expect(mt_text_take_hex(&at) == number)
      #expect(at.map { String(cString: $0) } == rest)
    }
  }

  @Test func hexNeedsEveryDigit() {
    var bytes: [UInt8] = [0, 0]
    #expect(mt_text_parse_hex("0aff", &bytes, 2))
    #expect(bytes == [0x0a, 0xff])
    #expect(!mt_text_parse_hex("0af", &bytes, 2))
    #expect(!mt_text_parse_hex("0aFG", &bytes, 2))
  }

  @Test(
    arguments: [
      ("git", "git", true), ("git", "gits", false), ("git", "gi", false), ("", "", true),
      ("", "x", false), ("*", "", true), ("clang-??", "clang-21", true),
      ("clang-??", "clang-210", false), ("x86*-ld*", "x86_64-linux-gnu-ld.gold", true),
      ("*a*b", "aabab", true), ("*a*b", "aabac", false), ("a*", "ba", false),
    ])
  func patternsFitTheWholeOfATextOnly(_ pattern: String, _ text: String, _ fits: Bool) {
    pattern.withCString { first in
      text.withCString { start in
        #expect(
          mt_text_fits(first, first + pattern.utf8.count, start, start + text.utf8.count) == fits)
      }
    }
  }
}
