/// The name of a type, as reports print it.
public struct TypeName: Hashable, Sendable {
  /// The language a type is written in, by the names that `heap` of macOS gives them.
  public enum Language: String, Sendable, Encodable {
    case swift = "Swift"
    case cxx = "C++"
    case rust = "Rust"
    case python = "Python"
    case gobject = "GObject"
    case c = "C"
  }

  /// The name to print: `Array<Int> storage`, `geo::Circle`.
  public var short: String
  /// The whole name: `Swift._ContiguousArrayStorage<Swift.Int>`.
  public var full: String
  /// The language.
  public var language: Language
  /// Path of the image that defines the type; nil where that is not known.
  public var imagePath: String?

  /// Makes a name.
  public init(short: String, full: String, language: Language, imagePath: String? = nil) {
    self.short = short
    self.full = full
    self.language = language
    self.imagePath = imagePath
  }
}
