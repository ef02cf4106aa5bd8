import Foundation
import Testing
import TraceTestSupport

/// A command recorded and reported on in one step, from the C source to the printed line.
@Suite struct ReportTests {
  @Test func theTableOfAKnownProgramIsExactInEveryColumn() throws {
    let run = try report(["allocations", "--bytes"], on: "table.c")
    #expect(run.status == 0)
    let rows = run.outputText.split(separator: "\n").map {
      $0.split(separator: " ").prefix(6).joined(separator: " ")
    }
    #expect(rows.contains("Malloc-1008 1,000 1 4 5,000 5"))
    #expect(rows.contains("Malloc-16 60 5 10 180 15"))
  }

  @Test func theTableOfAKnownProgramIsExactInJSON() throws {
    let run = try report(["allocations", "--format", "json"], on: "table.c")
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(run.outputText.utf8)) as? [String: Any])
    let rows = try #require(document["rows"] as? [[String: Any]])
    let small = try #require(rows.first { $0["name"] as? String == "Malloc-16" })
    let numbers = [
      "persistentBytes", "persistentCount", "transientCount", "totalBytes", "totalCount",
    ].map { small[$0] as? Int }
    #expect(numbers == [60, 5, 10, 180, 15])
  }

  @Test func aDoubleFreeIsShownWithThreeStacksAndTheirLines() throws {
    let run = try report(["report"], on: "double_free.c")
    #expect(run.status == 134, "the program's own end is passed on")
    let lines = run.outputText.split(separator: "\n").map(String.init)
    let titles = [
      "Double free of ", "Allocated by malloc", "Freed first by free", "Freed again by free",
    ]
    let found = titles.compactMap { title in lines.firstIndex { $0.contains(title) } }
    #expect(found.count == 4)
    #expect(found == found.sorted())
    for (title, function) in zip(found.dropFirst(), ["make_block", "consume", "clean_up"]) {
      #expect(lines[title + 1].contains("\(function)  double_free.c:"))
    }
  }

  @Test func whatWasNotFreedIsListedByStack() throws {
    let run = try report(["unfreed", "--format", "csv"], on: "table.c")
    #expect(run.outputText.contains("1000,1,1x1000,malloc,"))
    #expect(run.outputText.contains("60,5,5x12,malloc,"))
  }

  private func report(_ words: [String], on source: String) throws -> ProcessRun {
    let program = try TestProgram(source)
    return try ProcessRun.run(
      [BuiltProducts.memtrace.string] + words + ["--", program.path.string])
  }
}
