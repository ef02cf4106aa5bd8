import MemtraceTesting
import Shelf
import Testing

/// Tests of Swift Testing name themselves by the trait.
@Suite(.memtrace) struct ShelfTests {
  @Test func booksStandInOrder() {
    var shelf = Shelf()
    shelf.put("Emma")
    shelf.put("Persuasion")
    #expect(shelf.books.map(\.title) == ["Emma", "Persuasion"])
  }

  @Test func aSeriesStandsTogether() {
    var shelf = Shelf()
    shelf.putSeries("Dune", "Dune Messiah")
    #expect(shelf.books.count == 2)
  }

  @Test(arguments: 1...3) func manyBooksFit(count: Int) async {
    var shelf = Shelf()
    for number in 0..<count { shelf.put("Volume \(number)") }
    await Task.yield()
    #expect(shelf.books.count == count)
  }

  #if compiler(>=6.2)
    /// The process that this starts is to crash: the gate does not ask for its leaks.
    @Test func aBookNeedsATitle() async {
      await #expect(processExitsWith: .failure) {
        var shelf = Shelf()
        shelf.put("")
      }
    }
  #endif
}
