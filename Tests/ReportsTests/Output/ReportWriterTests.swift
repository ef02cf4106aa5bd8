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

  private struct Element: Encodable, Sendable {
    var index: Int
    var name = "a/b \n \"list\""
    var parts: [Int] = []
  }

  private struct ListSample: Report {
    static let schema = "memtrace.sample"
    var many: LongList<Element>
    var few: [Element]
    var nested: [[String: LongList<Int>]] = [["numbers": LongList([1, 2]), "none": LongList()]]

    init(_ elements: [Element]) { (many, few) = (LongList(elements), elements) }

    func write(to page: inout TextPage) {
      page.line("above")
      let columns: [TextTable.Column] = [.number("N"), .text("Name")]
      page.table(
        TextTable(columns, rows: many.converted { [Span("\($0.index)"), Span($0.name)] }))
      page.blank()
      page.line("below")
    }

    var csv: CSVTable? {
      CSVTable(["N", "Name"], rows: many.converted { CSVTable.row([$0.index, $0.name]) })
    }
  }

  /// More than are encoded at a time, with elements that are arrays and empty ones themselves.
  @Test(arguments: [0, 1, 2, 1024, 3000])
  func longListsAreWrittenAsArraysAre(count: Int) throws {
    let report = ListSample((0..<count).map { Element(index: $0, parts: Array(0..<$0 % 3)) })
    let json = try ReportWriter(format: .json).output(of: report)
    let (few, many) = ("  \"few\" : ", "  \"many\" : ")
    let start = try #require(json.firstRange(of: few)).upperBound
    let middle = try #require(json.firstRange(of: ",\n" + many))
    let end = try #require(json.firstRange(of: ",\n  \"nested\" : "))
    #expect(json[start..<middle.lowerBound] == json[middle.upperBound..<end.lowerBound])
    #expect(json[..<end.lowerBound].split(separator: "\"index\"").count == 2 * count + 1)
    #expect(
      json[end.upperBound...] == """
        [
            {
              "none" : [

              ],
              "numbers" : [
                1,
                2
              ]
            }
          ],
          "schema" : "memtrace.sample",
          "version" : 1
        }

        """)
  }

  @Test func longTablesAreWrittenAsOthersAre() throws {
    let elements = (0..<5000).map { Element(index: $0, name: "name \($0)") }
    let report = ListSample(elements)
    var table = TextTable([.number("N"), .text("Name")])
    for element in elements { table.add([Span("\(element.index)"), Span(element.name)]) }
    var page = TextPage()
    page.line("above")
    page.table(table)
    page.blank()
    page.line("below")
    #expect(try ReportWriter(format: .text).output(of: report) == page.text)
    var csv = CSVTable(["N", "Name"])
    for element in elements { csv.add(element.index, element.name) }
    #expect(try ReportWriter(format: .csv).output(of: report) == csv.text)
  }

  @Test func longListsAreCut() {
    let list = LongList([1, 2, 3])
    #expect(list.limited(to: 2) == LongList([1, 2]))
    #expect(list.limited(to: 2).count == 2)
    #expect(list.limited(to: 0).isEmpty && list.limited(to: 0).first == nil)
    #expect(list.limited(to: nil) == list && list.limited(to: 4) == list)
    #expect(list.first == 1)
  }

  /// A page with the largest few leaks must not keep the heap.
  @Test func aShortPartOfALongListKeepsNothingElse() {
    final class Heap: Sendable {
      func name(of block: Int) -> Int { block }
    }
    weak var kept: Heap?
    func list(limit: Int?, of count: Int) -> LongList<Int> {
      let heap = Heap()
      kept = heap
      return LongList(count: count) { [heap] in
        AnyIterator((0..<count).lazy.map { heap.name(of: $0) }.makeIterator())
      }.limited(to: limit)
    }
    for (limit, count) in [(5, 1000), (nil, 5), (5, 0)] {
      let part = list(limit: limit, of: count)
      #expect(Array(part) == Array(0..<min(count, 5)) && part.count == min(count, 5))
      #expect(kept == nil)
    }
    let long = list(limit: 200, of: 1000)
    #expect(kept != nil && Array(long) == Array(0..<200))
  }

  /// What a traced program calls itself must not reach a terminal as a control sequence.
  @Test func csvHasNoControlCharacters() {
    var table = CSVTable(["name"])
    table.add("\u{1b}]0;owned\u{7}", "a\u{0}b\u{7f}\u{85}", "tab\t")
    #expect(
      !table.text.unicodeScalars.contains { $0.value < 32 && !"\r\n\t".unicodeScalars.contains($0) }
    )
    #expect(!table.text.unicodeScalars.contains { (0x7f...0x9f).contains($0.value) })
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
