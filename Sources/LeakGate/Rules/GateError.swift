/// Something that the gate was told and cannot do.
public struct GateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line: what, where, and what to do.
  public var description: String

  /// Makes an error.
  public init(_ description: String) {
    self.description = description
  }
}
