/// A book that knows its sequel, and the sequel knows it.
public final class Book {
  /// What stands on its back.
  public let title: String
  /// What comes after it.
  public var sequel: Book?
  /// What came before it; should be weak, because a book and its sequel keep each other alive.
  public var predecessor: Book?

  /// Makes a book that stands alone.
  public init(_ title: String) {
    self.title = title
  }
}
