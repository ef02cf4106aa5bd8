/// A book that knows its sequel, and the sequel knows it.
public final class Book {
  public let title: String
  public var sequel: Book?
  /// Should be weak: a book and its sequel keep each other alive.
  public var predecessor: Book?

  public init(_ title: String) {
    self.title = title
  }
}

/// A shelf of books in order.
public struct Shelf {
  public private(set) var books: [Book] = []

  public init() {}

  public mutating func put(_ title: String) {
    books.append(Book(title))
  }

  /// Puts a book and its sequel on the shelf.
  public mutating func putSeries(_ first: String, _ second: String) {
    let (book, sequel) = (Book(first), Book(second))
    book.sequel = sequel
    sequel.predecessor = book
    books += [book, sequel]
  }
}
