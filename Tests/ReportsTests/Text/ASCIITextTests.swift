import Testing

@testable import Reports

@Suite struct ASCIITextTests {
  @Test func drawingsAreReplacedOneForOneAndNamesAreKept() {
    #expect(ASCIIText.of("a → b ±3 %  ▁█ 40 µs …") == "a > b ~3 %  _# 40 us .")
    #expect(ASCIIText.of("Ünï") == "Ünï")
    #expect(TextStyle(isASCII: true).drawn("-- COMMAND … 5 µs") == "-- COMMAND ... 5 us")
    #expect(TextStyle().drawn("-- COMMAND …") == "-- COMMAND …")
  }
}
