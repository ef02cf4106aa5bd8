extension Trace {
  /// What is missing in the trace, with what only reading all events tells.
  ///
  /// - Parameter progress: Called now and then with the bytes of events read so far and all of them.
  /// - Returns: The coverage, with the parts that cannot be read and the events that these may have held.
  /// - Throws: Nothing at present.
  /// - Complexity: O(*events*) time.
  public func eventCoverage(
    progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws(TraceError) -> Coverage {
    var counter = EventCounter()
    var merger = EventMerger(file: file, chunks: eventChunks, progress: progress)
    merger.run(&counter)
    var coverage = coverage
    coverage.add(merger)
    noteMissing(after: counter.count, in: &coverage)
    return coverage
  }

  /// Completes a coverage with how many events are missing for known.
  ///
  /// - Parameters:
  ///   - count: How many there are in the whole trace.
  ///   - coverage: That of the trace, with what could not be read.
  func noteMissing(after count: UInt64, in coverage: inout Coverage) {
    guard coverage.lostTimes != nil, header.events > count else { return }
    coverage.eventsMissing = header.events &- count
  }
}

extension Coverage {
  /// Adds what a merge of events could not read.
  mutating func add(_ merger: borrowing EventMerger) {
    for damage in merger.damage { add(damage) }
    for times in merger.lostTimes { add(times) }
  }
}

private struct EventCounter: EventSink {
  private(set) var count: UInt64 = 0

  mutating func receive(_ run: EventRun) -> Bool {
    count &+= UInt64(run.count)
    return true
  }
}
