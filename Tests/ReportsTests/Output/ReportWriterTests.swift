import Testing

@testable import Reports

@Suite struct ReportWriterTests {
  private struct Sample: Report {
    static let schema = "memtrace.sample"
    var name = "a/b"
    var bytes = UInt64.max
    func write(to page: inout TextPage) { page.line("name: ", Span(name, .emphasis)) }
    var csv: CSVTable? { nil }
  }

  @Test func jsonNamesItsSchemaAndSortsItsKeys() throws {
    #expect(
      try ReportWriter(format: .json).output(of: Sample()) == """
        {
          "bytes" : 18446744073709551615,
          "name" : "a/b",
          "schema" : "memtrace.sample",
          "version" : 1
        }

        """)
  }

  @Test func textGoesThroughThePage() throws {
    #expect(try ReportWriter(format: .text).output(of: Sample()) == "name: a/b\n")
  }

  @Test func aReportThatIsNoTableHasNoCSV() {
    #expect(throws: ReportError.notTabular) {
      try ReportWriter(format: .csv).output(of: Sample())
    }
  }

  @Test func csvQuotesWhatNeedsIt() {
    var table = CSVTable(["name", "value"])
    table.add("plain", 1)
    table.add("a,b", 2)
    table.add("say \"hi\"", 3)
    table.add("two\r\nlines", 4)
    table.add(" blank", String?.none)
    #expect(
      table.text
        == "name,value\r\nplain,1\r\n\"a,b\",2\r\n\"say \"\"hi\"\"\",3\r\n\"two\r\nlines\",4\r\n\" blank\",\r\n"
    )
  }
}
