import TraceReader

/// The records of a trace as text, one line each, for tests, scripts and curiosity.
///
/// A line is the kind in capitals and then `key=value` fields in a fixed order; texts are quoted.
/// Unlike a ``Report`` it is written piece by piece: a trace may hold billions of events.
public struct TraceDump {
  /// The kinds of records, in the order of the dump.
  public enum Kind: String, Sendable, CaseIterable {
    case header, process, image, thread, note, mark, window, ignored, refcounts, mapping, damage,
      stack, event, refcount
  }

  /// The forms a dump can be written in.
  public enum Format: Sendable {
    /// `KIND key=value …`
    case text
    /// One JSON object per line.
    case jsonLines
  }

  private let trace: Trace
  private let kinds: Set<Kind>
  private let format: Format
  private let limit: UInt64

  /// Prepares a dump.
  ///
  /// - Parameters:
  ///   - trace: The opened trace.
  ///   - kinds: Only records of these kinds.
  ///   - format: The form of the lines.
  ///   - eventLimit: At most so many events; nil for all.
  public init(
    _ trace: Trace, kinds: Set<Kind> = Set(Kind.allCases), format: Format = .text,
    eventLimit: UInt64? = nil
  ) {
    self.trace = trace
    self.kinds = kinds
    self.format = format
    limit = eventLimit ?? .max
  }

  /// Writes all records.
  ///
  /// - Parameter output: Takes the next piece of text, of whole lines; returns false to stop.
  /// - Throws: `TraceError` when reading fails.
  public func write(_ output: (String) throws -> Bool) throws {
    var buffer = DumpBuffer(format: format)
    guard try writeMetadata(&buffer, output) else { return }
    if kinds.contains(.stack) {
      guard try writeStacks(&buffer, output) else { return }
    }
    if kinds.contains(.event) {
      guard try writeEvents(&buffer, output) else { return }
    }
    if kinds.contains(.refcount) { try writeRefcounts(&buffer, output) }
    _ = try buffer.flush(output)
  }

  private func writeMetadata(
    _ buffer: inout DumpBuffer, _ output: (String) throws -> Bool
  ) throws -> Bool {
    let clock = trace.clock
    for kind in Kind.allCases where kinds.contains(kind) {
      let records: AnyIterator<DumpRecord>
      switch kind {
      case .header: records = each(CollectionOfOne(trace)) { DumpRecord(header: $0) }
      case .process:
        records = each(CollectionOfOne(trace.process)) { DumpRecord(process: $0) }
      case .image: records = each(trace.images.images) { DumpRecord(image: $0, clock: clock) }
      case .thread: records = each(trace.threads) { DumpRecord(thread: $0, clock: clock) }
      case .note: records = each(trace.notes) { DumpRecord(note: $0, clock: clock) }
      case .mark: records = each(trace.marks) { DumpRecord(mark: $0, clock: clock) }
      case .window: records = each(trace.windows ?? []) { DumpRecord(window: $0, clock: clock) }
      case .ignored: records = each(trace.ignoredBlocks) { DumpRecord(ignored: $0, clock: clock) }
      case .refcounts:
        records = each(trace.refcountRecording.map { [$0] } ?? []) { DumpRecord(refcounts: $0) }
      case .mapping: records = each(trace.mappingCalls) { DumpRecord(mapping: $0, clock: clock) }
      case .damage: records = each(trace.coverage.damage) { DumpRecord(damage: $0) }
      case .stack, .event, .refcount: continue
      }
      for record in records {
        buffer.add(record)
        if buffer.isFull, try !buffer.flush(output) { return false }
      }
    }
    return try buffer.flush(output)
  }

  /// Makes records only as they are asked for: there may be millions.
  private func each<Elements: Sequence>(
    _ elements: Elements, _ record: @escaping (Elements.Element) -> DumpRecord
  ) -> AnyIterator<DumpRecord> {
    AnyIterator(elements.lazy.map(record).makeIterator())
  }

  private func writeStacks(
    _ buffer: inout DumpBuffer, _ output: (String) throws -> Bool
  ) throws -> Bool {
    try trace.stacks.forEachFrame { frame in
      let parent = trace.stacks.parent(of: frame.node)
      let isCut = parent == nil && trace.stacks.lacksRoot(frame.node)
      buffer.add(DumpRecord(frame: frame, parent: parent, isCut: isCut))
      return try !buffer.isFull || buffer.flush(output)
    }
  }

  private func writeEvents(
    _ buffer: inout DumpBuffer, _ output: (String) throws -> Bool
  ) throws -> Bool {
    // An error of the output has to cross a function that throws only the reader's errors.
    var failure: (any Error)?
    var wantsMore = true
    let damage = try trace.forEachEvent { index, event in
      if index >= limit { return false }
      buffer.add(DumpRecord(event: event, index: index, clock: trace.clock))
      guard buffer.isFull else { return true }
      do {
        wantsMore = try buffer.flush(output)
      } catch {
        failure = error
        wantsMore = false
      }
      return wantsMore
    }
    if let failure { throw failure }
    add(damage, to: &buffer)
    return wantsMore
  }

  /// Adds what could not be read of the events: only they have been read that far.
  private func add(_ damage: [Damage], to buffer: inout DumpBuffer) {
    guard kinds.contains(.damage) else { return }
    for part in damage { buffer.add(DumpRecord(damage: part)) }
  }

  private func writeRefcounts(
    _ buffer: inout DumpBuffer, _ output: (String) throws -> Bool
  ) throws {
    var count: UInt64 = 0
    let damage = try trace.forEachRefcount { event in
      if count >= limit { return false }
      count += 1
      buffer.add(DumpRecord(refcount: event, clock: trace.clock))
      return try !buffer.isFull || buffer.flush(output)
    }
    add(damage, to: &buffer)
  }
}

/// Collects lines, so that the output is not called for each.
struct DumpBuffer {
  private let format: TraceDump.Format
  private var text = ""

  init(format: TraceDump.Format) {
    self.format = format
  }

  var isFull: Bool { text.utf8.count >= 65_536 }

  mutating func add(_ record: DumpRecord) {
    text += format == .text ? record.text : record.json
    text += "\n"
  }

  /// Hands out what has been collected; false when the output wants no more.
  mutating func flush(_ output: (String) throws -> Bool) throws -> Bool {
    guard !text.isEmpty else { return true }
    defer { text.removeAll(keepingCapacity: true) }
    return try output(text)
  }
}
