import Shelf
import XCTest

/// Tests of XCTest need nothing but the product in the manifest.
final class OldShelfTests: XCTestCase {
  func testANewShelfIsEmpty() {
    XCTAssertTrue(Shelf().books.isEmpty)
  }

  func testASequelKnowsItsPredecessor() {
    var shelf = Shelf()
    shelf.putSeries("Foundation", "Foundation and Empire")
    XCTAssertEqual(shelf.books.last?.predecessor?.title, "Foundation")
  }
}
