extension Trace {
  /// Whether the trace has reference count events.
  public var hasRefcounts: Bool { !refcountChunks.isEmpty }

  /// Visits all reference count events in the order of their times.
  ///
  /// - Parameter body: Gets an event; false stops the visit.
  /// - Returns: The parts that cannot be read, and were left out.
  @discardableResult
  public func forEachRefcount(_ body: (RefcountEvent) throws -> Bool) rethrows -> [Damage] {
    var merger = RefcountMerger(file: file, chunks: refcountChunks)
    while let event = merger.next(), try body(event) {}
    return merger.damage
  }

  /// The reference count events of some objects, each in the order of their times.
  ///
  /// - Parameter objects: Where the objects begin.
  /// - Returns: What there is; objects without events have no entry.
  /// - Complexity: All events of the trace are read.
  public func refcounts(of objects: Set<Address>) -> [Address: [RefcountEvent]] {
    var result: [Address: [RefcountEvent]] = [:]
    guard !objects.isEmpty else { return result }
    forEachRefcount { event in
      if objects.contains(event.object) { result[event.object, default: []].append(event) }
      return true
    }
    return result
  }
}
