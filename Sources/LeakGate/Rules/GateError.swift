import Reports

/// Something that the gate was told and cannot do.
public struct GateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One line: what, where, and what to do.
  public var description: String

  /// Makes an error.
  ///
  /// What it cites may be of any length and have anything in it: the wrong file was named.
  public init(_ description: String) {
    self.description = description.printable.shortenedInTheMiddle(to: 400)
  }
}
