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
    for record in metadata() { buffer.add(record) }
    guard try buffer.flush(output) else { return }
    if kinds.contains(.stack) {
      guard try writeStacks(&buffer, output) else { return }
    }
    if kinds.contains(.event) {
      guard try writeEvents(&buffer, output) else { return }
    }
    if kinds.contains(.refcount) { try writeRefcounts(&buffer, output) }
    _ = try buffer.flush(output)
  }

  private func metadata() -> [DumpRecord] {
    var records: [DumpRecord] = []
    if kinds.contains(.header) { records.append(DumpRecord(header: trace)) }
    if kinds.contains(.process) { records.append(DumpRecord(process: trace.process)) }
    if kinds.contains(.image) {
      records += trace.images.images.map { DumpRecord(image: $0, clock: trace.clock) }
    }
    if kinds.contains(.thread) {
      records += trace.threads.map { DumpRecord(thread: $0, clock: trace.clock) }
    }
    if kinds.contains(.note) {
      records += trace.notes.map { DumpRecord(note: $0, clock: trace.clock) }
    }
    if kinds.contains(.mark) {
      records += trace.marks.map { DumpRecord(mark: $0, clock: trace.clock) }
    }
    if kinds.contains(.window) {
      records += (trace.windows ?? []).map { DumpRecord(window: $0, clock: trace.clock) }
    }
    if kinds.contains(.ignored) {
      records += trace.ignoredBlocks.map { DumpRecord(ignored: $0, clock: trace.clock) }
    }
    if kinds.contains(.refcounts), let recording = trace.refcountRecording {
      records.append(DumpRecord(refcounts: recording))
    }
    if kinds.contains(.mapping) {
      records += trace.mappingCalls.map { DumpRecord(mapping: $0, clock: trace.clock) }
    }
    if kinds.contains(.damage) {
      records += trace.coverage.damage.map { DumpRecord(damage: $0) }
    }
    return records
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
