import Testing

@testable import Reports

@Suite struct TextTableTests {
  private func table() -> TextTable {
    var table = TextTable([.text("Category"), .number("Persistent Bytes"), .number("# Total")])
    table.add(["All Heap Allocations", "1,060", "20"])
    table.add(["Malloc-16", "60", "15"])
    return table
  }

  @Test func namesStandLeftAndNumbersRight() {
    #expect(
      table().rendered(in: TextStyle()) == """
        Category              Persistent Bytes  # Total
        All Heap Allocations             1,060       20
        Malloc-16                           60       15

        """)
  }

  @Test func fewLongNamesDoNotMoveOtherRowsWhereThereIsNoWidth() {
    let long = String(repeating: "x", count: 81)
    func rendered(_ names: [String]) -> [Substring] {
      var table = TextTable([.text("Category"), .number("#"), .text("Caller")])
      for name in names { table.add([Span(name), "1", "main"]) }
      return table.rendered(in: TextStyle()).split(separator: "\n")
    }
    #expect(
      rendered(["node", long, "edge", "list"]) == [
        "Category  #  Caller", "node      1  main", "\(long)  1  main", "edge      1  main",
        "list      1  main",
      ])
    // Where they are not few, all columns are aligned.
    let wide = rendered(["node", long, "edge"])
    #expect(wide[1] == "node\(String(repeating: " ", count: 79))1  main")
    #expect(wide[2] == "\(long)  1  main")
    // Names of 80 columns are no longer than usual.
    let usual = String(repeating: "x", count: 80)
    #expect(
      rendered(["node", usual, "edge", "list"])[1]
        == "node\(String(repeating: " ", count: 78))1  main")
  }

  /// One name of nested templates may fill a page.
  @Test func namesOfMoreThanALineMoveNoOtherRowsHoweverManyTheyAre() {
    let (huge, long) = (String(repeating: "x", count: 241), String(repeating: "x", count: 240))
    func second(_ names: [String]) -> Substring {
      var table = TextTable([.text("Category"), .number("#")])
      for name in names { table.add([Span(name), "1"]) }
      return table.rendered(in: TextStyle()).split(separator: "\n")[1]
    }
    #expect(second(["node", huge, huge]) == "node      1")
    #expect(second(["node", long, huge]) == "node\(String(repeating: " ", count: 238))1")
  }

  @Test func titlesAreBrokenBeforeTextsAreShortened() {
    #expect(
      table().rendered(in: TextStyle(width: 42)) == """
                              Persistent      #
        Category                   Bytes  Total
        All Heap Allocations       1,060     20
        Malloc-16                     60     15

        """)
  }

  @Test func theWidestTextIsShortenedInTheMiddle() {
    #expect(
      table().rendered(in: TextStyle(width: 28)) == """
                    Persistent     #
        Category         Bytes Total
        All H…tions      1,060    20
        Malloc-16           60    15

        """)
  }

  @Test func whatCanBeSparedIsLeftOutWhereThereIsNoRoom() {
    var table = TextTable([
      .text("Name", shortest: 12), .number("Count", spare: 1), .text("Address", shortest: nil),
      .text("Library", spare: 2), .number("Bytes"),
    ])
    table.add(["a name that is too long", "12", "0x7f0012345678", "libc.so.6", "1,024"])
    table.add(["main"])
    #expect(
      table.rendered(in: TextStyle(width: 44)) == """
        Name              Count Address        Bytes
        a name t…too long    12 0x7f0012345678 1,024
        main

        """)
    #expect(
      table.rendered(in: TextStyle(width: 32)) == """
        Name        Address        Bytes
        a nam… long 0x7f0012345678 1,024
        main

        """)
    // In the last resort names are hardly readable.
    #expect(
      table.rendered(in: TextStyle(width: 10)) == """
        Name     Address        Bytes
        a na…ong 0x7f0012345678 1,024
        main

        """)
    #expect(!table.fits(in: TextStyle(width: 44)))
  }

  @Test func aTableThatCannotFitKeepsItsNumbers() {
    var table = TextTable([.number("Bytes"), .number("Count")])
    table.add(["123456789", "123456789"])
    #expect(table.rendered(in: TextStyle(width: 10)).contains("123456789 123456789"))
  }

  @Test func rowsEndWithoutBlanks() {
    var table = TextTable([.text("A"), .number("B"), .text("C")])
    table.add(["a"])
    table.add(["a", "1"])
    #expect(table.rendered(in: TextStyle()) == "A  B  C\na\na  1\n")
  }

  @Test func controlCharactersAreWrittenOut() {
    var table = TextTable([.text("Name")])
    table.add(["a\u{1b}[31mb\nc\u{202e}d"])
    #expect(table.rendered(in: TextStyle()) == "Name\na\\x1b[31mb\\nc\\u{202e}d\n")
  }

  @Test func wideAndCombiningCharactersKeepColumnsAligned() {
    var table = TextTable([.text("Name"), .number("N")])
    table.add(["数据", "1"])
    table.add(["e\u{301}", "2"])
    #expect(table.rendered(in: TextStyle()) == "Name  N\n数据  1\ne\u{301}     2\n")
  }

  @Test func coloursSurroundTheTextAndNotItsPadding() {
    var table = TextTable([.text("Name"), .number("N")])
    table.add([Span("a", .error), "1"])
    let text = table.rendered(in: TextStyle(isColoured: true))
    #expect(text == "\u{1b}[1mName\u{1b}[0m  \u{1b}[1mN\u{1b}[0m\n\u{1b}[31;1ma\u{1b}[0m     1\n")
  }
}

@Suite struct ShorteningTests {
  @Test(arguments: [
    (11, "hello world"), (10, "hello…orld"), (5, "he…ld"), (2, "h…"), (1, "…"), (0, ""),
  ])
  func theMiddleGoesFirst(width: Int, text: String) {
    #expect("hello world".shortenedInTheMiddle(to: width) == text)
  }

  @Test func wideCharactersAreNotCutInHalf() {
    #expect("数据数据".shortenedInTheMiddle(to: 6).displayWidth <= 6)
  }
}

@Suite struct TextStyleTests {
  private func style(
    isTerminal: Bool = true, columns: Int? = 100, _ environment: [String: String]
  ) -> TextStyle {
    .suiting(isTerminal: isTerminal, terminalColumns: columns, environment: { environment[$0] })
  }

  @Test func aFileGetsNeitherColoursNorALimit() {
    #expect(style(isTerminal: false, ["COLUMNS": "60", "TERM": "xterm"]) == TextStyle())
  }

  @Test func aTerminalGetsItsWidthAndColours() {
    #expect(style(["TERM": "xterm"]) == TextStyle(width: 100, isColoured: true))
    #expect(style(columns: nil, ["TERM": "xterm"]).width == 80)
  }

  @Test func columnsFromTheEnvironmentWin() {
    #expect(style(["TERM": "xterm", "COLUMNS": "132"]).width == 132)
    #expect(style(["TERM": "xterm", "COLUMNS": "zero"]).width == 100)
  }

  @Test func terminalsWithoutUTF8GetASCII() {
    #expect(!style(["TERM": "xterm"]).isASCII)
    #expect(!style(["LANG": "de_DE.UTF-8"]).isASCII)
    #expect(!style(["LANG": "C", "LC_ALL": "C.utf8"]).isASCII)
    #expect(style(["LANG": "en_US.UTF-8", "LC_ALL": "C"]).isASCII)
    #expect(style(["LANG": "en_US.UTF-8", "LC_CTYPE": "de_DE.ISO-8859-1", "LC_ALL": ""]).isASCII)
    #expect(!style(isTerminal: false, ["LANG": "C"]).isASCII)
  }

  @Test func noColorAndDumbTerminalsAreRespected() {
    #expect(!style(["TERM": "xterm", "NO_COLOR": "1"]).isColoured)
    #expect(style(["TERM": "xterm", "NO_COLOR": ""]).isColoured)
    #expect(!style(["TERM": "dumb"]).isColoured)
    #expect(!style([:]).isColoured)
  }

  @Test func coloursThatAreAskedForGoIntoPipesToo() {
    #expect(
      style(isTerminal: false, ["CLICOLOR_FORCE": "1", "TERM": "dumb", "COLUMNS": "60"])
        == TextStyle(isColoured: true))
    #expect(!style(isTerminal: false, ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"]).isColoured)
    for refusal in ["", "0"] {
      #expect(!style(isTerminal: false, ["CLICOLOR_FORCE": refusal]).isColoured)
      #expect(style(["CLICOLOR_FORCE": refusal, "TERM": "xterm"]).isColoured)
    }
  }
}
