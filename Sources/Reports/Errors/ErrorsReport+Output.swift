import TraceReader

extension ErrorsReport {
  /// Writes one paragraph per error: allocated, freed first, freed again, each with its stack.
  public func write(to page: inout TextPage) {
    page.line(Span(headline, totalCount > 0 ? .error : .heading))
    writeCrash(to: &page)
    for (index, entry) in entries.enumerated() {
      page.blank()
      Self.write(entry, number: index + 1, frameLimit: frameLimit, to: &page)
    }
    let hidden = entryCount - entries.count
    if hidden > 0 {
      page.blank()
      page.line(Span(CountText.more(hidden, "group") + " of errors; --top 0 shows all", .faint))
    }
    writeFailures(to: &page)
    coverage.write(to: &page)
  }

  /// Writes one error.
  static func write(_ entry: Entry, number: Int, frameLimit: Int?, to page: inout TextPage) {
    let text = ErrorText(entry: entry, bytes: page.style.bytes)
    page.line(Span("\(number). "), Span(text.title, .error))
    if entry.count > 1 {
      page.line("   \(entry.count.grouped) times with the same stacks; this is the first:")
    }
    for (line, event) in text.events {
      page.line(Span("   \(line)", .heading))
      // Of who found a write there is nothing to see.
      if event == entry.offending, entry.isFoundLater { continue }
      StackText.write(event.frames, to: &page, indent: 7, limit: frameLimit ?? .max)
    }
    page.line(Span("   To fix: ", .heading), Span(text.advice))
  }

  /// `3 memory errors in ./prog (pid 12): 1 double free, 2 mismatched deallocations`.
  private var headline: String {
    let program = "\(trace.commandLine) (pid \(trace.pid))"
    guard totalCount > 0 else {
      return trace.sampling.map { "No memory errors seen in \($0.name) of \(program)." }
        ?? "No memory errors in \(program)."
    }
    return "\(CountText.of(totalCount, "memory error")) in \(program): \(kindsText)"
  }

  /// How the process ended where no error says why, and how to find out more.
  private func writeCrash(to page: inout TextPage) {
    let failed = failureCount == 1 ? "an allocation" : "allocations"
    let hint =
      totalCount == 0 && failureCount > 0 ? "perhaps because \(failed) failed, see below" : nil
    if let crash {
      let suffix = hint.map { ", \($0)." } ?? "."
      page.line(Span("The process \(trace.ending.text)\(suffix)", .warning))
      crash.write(to: &page, frameLimit: frameLimit)
    } else if trace.ending.isCrash, let hint {
      page.line(Span("The process \(trace.ending.text); \(hint).", .warning))
    } else if isUnexplainedCrash {
      page.line(Span("The process \(trace.ending.text); nothing recorded says why.", .warning))
      writeLastEvent(to: &page)
    }
    guard isUnexplainedCrash else { return }
    let next = NextCommand.explainingCrash(of: trace, without: checks, knowsPlace: crash != nil)
    if let next { [next].write(to: &page) }
  }

  /// The last trace of a process that crashed nobody knows where.
  func writeLastEvent(to page: inout TextPage) {
    guard let last = lastEvent else { return }
    let when = "on \(last.thread.text) at \(TimeText.timestamp(last.timeNanoseconds))"
    page.line(Span("   The last event recorded is \(last.function), \(when):", .heading))
    StackText.write(last.frames, to: &page, indent: 7, limit: frameLimit ?? .max)
  }

  /// `1 double free, 2 mismatched deallocations`.
  var kindsText: String {
    let kinds = counts.sorted { $0.key.rank < $1.key.rank }.map { kind, count in
      "\(count.grouped) \(count == 1 ? kind.noun : kind.plural)"
    }
    return kinds.joined(separator: ", ")
  }

  /// `3 allocations failed and returned NULL, as --fail-at=5 has it`.
  func failureTitle(_ bytes: ByteStyle) -> String {
    let reason = trace.shortage.map { ", \($0.text(bytes))" } ?? ""
    return "\(CountText.of(failureCount, "allocation")) failed and returned NULL\(reason)"
  }

  private func writeFailures(to page: inout TextPage) {
    guard failureCount > 0 else { return }
    page.heading(failureTitle(page.style.bytes))
    for failure in failures {
      page.blank()
      let times = failure.count == 1 ? "once" : "\(failure.count.grouped) times"
      page.line(
        "   \(failure.request(page.style.bytes)), \(times), first on ",
        Span(failure.first.thread.text),
        " at \(TimeText.timestamp(failure.first.timeNanoseconds))")
      StackText.write(failure.first.frames, to: &page, indent: 7, limit: frameLimit ?? .max)
    }
  }

  /// One row per group of errors.
  public var csv: CSVTable? {
    var header = ["Kind", "Count", "Address", "Block", "Size"]
    for event in ["Allocated", "Freed First", "Offending"] {
      header += ["Function", "Thread", "Timestamp", "Responsible Caller", "Frames"].map {
        "\(event) \($0)"
      }
    }
    var table = CSVTable(header)
    for entry in entries {
      table.add(
        [
          entry.kind.category.identifier, entry.count.csvText, HexText.of(entry.address),
          (entry.block.map { HexText.of($0.address) }).csvText, entry.block?.size.csvText ?? "",
        ] + Self.fields(entry.block?.allocated) + Self.fields(entry.firstFree)
          + Self.fields(entry.offending))
    }
    return table
  }

  private static func fields(_ event: EventSummary?) -> [String] {
    guard let event else { return ["", "", "", "", ""] }
    let shown = StackText.withoutLeadingRuntime(event.frames)
    return [
      event.function, event.thread.text, TimeText.timestamp(event.timeNanoseconds),
      shown.first?.title ?? "", event.frames.map(\.title).joined(separator: " < "),
    ]
  }

  enum CodingKeys: String, CodingKey {
    case trace, coverage, totalCount, counts, errors, errorGroupCount, failedAllocations
    case failedAllocationCount, crash, lastEvent
  }

  /// Writes the document `memtrace.errors`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(trace, forKey: .trace)
    try container.encode(coverage, forKey: .coverage)
    try container.encode(totalCount, forKey: .totalCount)
    let named = counts.map { ($0.key.identifier, $0.value) }
    try container.encode(Dictionary(uniqueKeysWithValues: named), forKey: .counts)
    try container.encode(entries, forKey: .errors)
    try container.encode(entryCount, forKey: .errorGroupCount)
    try container.encode(failures, forKey: .failedAllocations)
    try container.encode(failureCount, forKey: .failedAllocationCount)
    try container.encodeIfPresent(crash, forKey: .crash)
    try container.encodeIfPresent(lastEvent, forKey: .lastEvent)
  }
}

extension ErrorsReport.Entry: Encodable {
  enum CodingKeys: String, CodingKey {
    case kind, message, advice, count, address, access, offset, length, isAtLeast, found, mark,
      signal
    case claimedSize, claimedAlignment, block
    case neighbour, variable, place, firstFree, unbalanced, offending
  }

  /// Writes the kind with its details, and the three events.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind.category.identifier, forKey: .kind)
    let text = ErrorText(entry: self, bytes: .exact)
    try container.encode(text.title, forKey: .message)
    try container.encode(text.advice, forKey: .advice)
    try container.encode(count, forKey: .count)
    try container.encode(HexText.of(address), forKey: .address)
    switch kind {
    case .freeOfInterior(let offset): try container.encode(offset, forKey: .offset)
    case .wrongSize(let size): try container.encode(size, forKey: .claimedSize)
    case .wrongAlignment(let claimed): try container.encode(claimed, forKey: .claimedAlignment)
    case .writeAfterFree(let offset, let length, let found):
      try container.encode(offset, forKey: .offset)
      try container.encode(length, forKey: .length)
      try container.encode(found, forKey: .found)
    case .heapOverflow(let offset, let length, let isAtLeast, let found):
      try container.encode(offset, forKey: .offset)
      try container.encode(length, forKey: .length)
      try container.encode(isAtLeast, forKey: .isAtLeast)
      try container.encode(found, forKey: .found)
    case .heapUnderflow(let distance, let length, let found):
      try container.encode(-Int64(clamping: distance), forKey: .offset)
      try container.encode(length, forKey: .length)
      try container.encode(found, forKey: .found)
    case .useAfterFree(let signal): try container.encode(signal, forKey: .signal)
    case .accessAfterFree(let access), .outOfBounds(let access):
      try container.encode(access.kind, forKey: .access)
      try container.encode(access.offset, forKey: .offset)
      try container.encode(access.signal, forKey: .signal)
    case .doubleFree, .freeOfUnknown, .reallocOfFreed, .mismatched, .overRelease: break
    }
    try container.encodeIfPresent(mark, forKey: .mark)
    try container.encodeIfPresent(block, forKey: .block)
    try container.encodeIfPresent(neighbour, forKey: .neighbour)
    try container.encodeIfPresent(variable?.text, forKey: .variable)
    try container.encodeIfPresent(place?.text, forKey: .place)
    try container.encodeIfPresent(firstFree, forKey: .firstFree)
    if kind == .overRelease { try container.encode(unbalanced, forKey: .unbalanced) }
    try container.encode(offending, forKey: .offending)
  }
}

extension ErrorsReport.Block: Encodable {
  enum CodingKeys: String, CodingKey { case address, size, alignment, category, allocated }

  /// Writes the block; its address as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(HexText.of(address), forKey: .address)
    try container.encode(size, forKey: .size)
    try container.encode(alignment, forKey: .alignment)
    try container.encode(category, forKey: .category)
    try container.encode(allocated, forKey: .allocated)
  }
}
