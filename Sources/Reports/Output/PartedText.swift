/// Collects text until there is enough of it to be written.
struct PartedText {
  private var part: String
  private static let partLength = 1 << 16

  init(_ beginning: String = "") {
    part = beginning
  }

  /// Adds a line; what was there before it goes to the sink if that is a part.
  mutating func add(_ line: String, to sink: (String) throws -> Void) rethrows {
    if part.utf8.count >= Self.partLength {
      try sink(part)
      part = ""
    }
    part += line
  }

  /// Writes the rest.
  consuming func end(to sink: (String) throws -> Void) rethrows {
    try sink(part)
  }
}
