/// What the type of a variable tells of one of its words.
public struct VariableWord: Sendable, Hashable {
  /// Whether somebody may follow what stands there.
  public var mayPoint: Bool
  /// Whether it refers to an object without holding it, as `unowned` properties of structures do.
  public var isUnowned: Bool
  /// Where the container of an `Any` or `any P` begins in which the word is room for the value; nil for others.
  public var container: UInt64?

  /// Describes a word; without arguments one of which nothing is known.
  public init(mayPoint: Bool = true, isUnowned: Bool = false, container: UInt64? = nil) {
    (self.mayPoint, self.isUnowned, self.container) = (mayPoint, isUnowned, container)
  }
}
