extension Trace {
  /// Whether calls that map memory were recorded.
  public var recordsMappings: Bool { header.flags.contains(.mappings) }

  /// What the program's calls had mapped at a moment, and what they had unmapped before.
  ///
  /// - Parameter end: The moment; everything by default.
  /// - Returns: The mappings, and sums of them.
  public func mappings(until end: EventTime = .distantFuture) -> MappingHistory {
    MappingReplay(mappingCalls, until: end).history
  }
}
