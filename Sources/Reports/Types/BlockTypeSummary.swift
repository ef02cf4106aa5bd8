import TraceReader

/// What is known of a type, as JSON documents show it.
public struct BlockTypeSummary: Sendable, Hashable, Encodable {
  /// The name with everything that the printed one leaves out.
  public var fullName: String
  /// `Swift`, `C++`.
  public var language: String
  /// Path of the image that defines the type; nil where that is not known.
  public var image: String?

  /// The type of a category; nil when it is about sizes.
  init?(_ category: BlockCategory) {
    guard case .type(let language) = category.kind else { return nil }
    fullName = category.fullName ?? category.name
    self.language = language.rawValue
    image = category.imagePath
  }
}
