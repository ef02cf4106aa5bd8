/// Books in order.
public struct Shelf {
  /// From left to right.
  public private(set) var books: [Book] = []

  /// Makes an empty shelf.
  public init() {}

  /// Puts a book at the right end.
  public mutating func put(_ title: String) {
    precondition(!title.isEmpty, "a book has a title")
    books.append(Book(title))
  }

  /// Puts a book and its sequel at the right end.
  public mutating func putSeries(_ first: String, _ second: String) {
    let (book, sequel) = (Book(first), Book(second))
    book.sequel = sequel
    sequel.predecessor = book
    books += [book, sequel]
  }
}
