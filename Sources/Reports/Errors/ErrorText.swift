import TraceReader

/// The sentences of one memory error.
struct ErrorText {
  let entry: ErrorsReport.Entry
  let bytes: ByteStyle

  /// `Double free of 0x7f12a0, a block of 16 B (Malloc-16)`.
  var title: String {
    let address = HexText.of(entry.address)
    switch entry.kind {
    case .doubleFree: return "Double free of \(address)\(freedBlockText)"
    case .reallocOfFreed: return "realloc of the freed block \(address)\(freedBlockText)"
    case .freeOfUnknown:
      return "Invalid \(call) of \(address), which was never "
        + (isOfAnnounced ? "announced" : "allocated") + neighbourText + variableText
    case .freeOfInterior(let offset):
      let start = entry.block.map { " that begins at \(HexText.of($0.address))" } ?? ""
      let end = entry.firstFree == nil ? "" : " and was freed before"
      return
        "Invalid \(call) of \(address), \(bytes.withUnit(offset)) inside \(ofBlock)\(start)\(end)"
    case .mismatched:
      return "Mismatched deallocation of \(address)\(blockText): \(familyText)"
    case .wrongSize(let size):
      return "\(entry.offending.function) of \(address) says \(bytes.withUnit(size)), "
        + "but it is \(ofBlock)"
    case .overRelease:
      let object = "\(isRetain ? "Retain" : "Release") of \(address)\(blockText)"
      return entry.firstFree == nil
        ? "\(object), which has no strong reference any more" : "\(object), which was freed before"
    case .useAfterFree(let signal):
      return "Use of the freed block \(address)\(freedBlockText), which ended in "
        + SignalText.name(of: signal)
    case .accessAfterFree(let access):
      return "\(access.kind.text) the freed block \(address)\(freedBlockText), at offset "
        + "\(access.offset)"
    case .outOfBounds(let access):
      return "\(access.kind.noun) \(place(access.offset)) \(address)\(freedBlockText)"
    case .writeAfterFree(let offset, let length, _):
      return "Write to the freed block \(address)\(freedBlockText): \(bytes.withUnit(length)) at "
        + "offset \(offset) changed"
    case .heapOverflow(let offset, let length, let isAtLeast, _):
      return "Write past the end of \(address)\(freedBlockText): \(isAtLeast ? "at least " : "")"
        + "\(bytes.withUnit(length)) \(placeBehind(offset))"
    case .heapUnderflow(let distance, let length, _):
      return "Write in front of \(address)\(freedBlockText): \(bytes.withUnit(length)) "
        + placeInFront(distance, length)
    case .wrongAlignment(let alignment):
      let real = entry.block.map { "\($0.alignment)" } ?? "another"
      return "\(entry.offending.function) of \(address)\(blockText) says alignment \(alignment), "
        + "but it was allocated with \(real)"
    }
  }

  /// The events in order, each with the line above its stack.
  var events: [(line: String, event: EventSummary)] {
    var result: [(String, EventSummary)] = []
    var previous: EventSummary?
    if let block = entry.block {
      result.append((line("Allocated", block.allocated, after: nil), block.allocated))
      previous = block.allocated
    }
    if let block = entry.neighbour {
      result.append((line("Block allocated", block.allocated, after: nil), block.allocated))
      previous = block.allocated
    }
    let befores = entry.unbalanced.filter { $0 != entry.offending }.map {
      ("Released without a retain", $0)
    }
    let frees = entry.firstFree.map { [(entry.isFreedOnce ? "Freed" : "Freed first", $0)] } ?? []
    for (verb, event) in (befores + frees).sorted(by: {
      $0.1.timeNanoseconds < $1.1.timeNanoseconds
    }) {
      result.append((line(verb, event, after: previous), event))
      previous = event
    }
    result.append((offendingLine(after: previous), entry.offending))
    return result
  }

  private var offendingVerb: String {
    switch entry.kind {
    case .doubleFree: "Freed again"
    case .reallocOfFreed: "Reallocated"
    case .overRelease: isRetain ? "Retained" : "Released again"
    default: isRealloc ? "Reallocated" : "Freed"
    }
  }

  /// Not `realloc(p, 0)`, which frees.
  private var isRealloc: Bool { entry.offending.function == "realloc" }

  /// What the program did to the address.
  var call: String {
    if isOfAnnounced { return entry.offending.function }
    return isRealloc ? "realloc" : "free"
  }

  /// Whether it was about a block of the program's own allocators.
  var isOfAnnounced: Bool { entry.offending.function == Operation.announcedEnd.name }

  private var isRetain: Bool { entry.offending.function.contains("etain") }

  private func offendingLine(after previous: EventSummary?) -> String {
    switch entry.kind {
    case .useAfterFree: return line("Used", nil, entry.offending, after: previous)
    case .accessAfterFree(let access), .outOfBounds(let access):
      return line(access.kind.participle, nil, entry.offending, after: previous)
        + ", which ended in \(SignalText.name(of: access.signal))"
    case .writeAfterFree(_, _, let found):
      return line("Found", nil, entry.offending, after: previous)
        + ", \(found.text(at: entry.mark)); who wrote is not known"
    case .heapOverflow(_, _, _, let found), .heapUnderflow(_, _, let found):
      return line("Found", nil, entry.offending, after: previous)
        + ", \(found.text(after: entry.firstFree, at: entry.mark)); who wrote is not known"
    default: return line(offendingVerb, entry.offending, after: previous)
    }
  }

  private func line(_ verb: String, _ event: EventSummary, after previous: EventSummary?) -> String
  {
    line(verb, event.function, event, after: previous)
  }

  private func line(
    _ verb: String, _ function: String?, _ event: EventSummary, after previous: EventSummary?
  ) -> String {
    var text = verb + (function.map { " by \($0)" } ?? "") + " on \(event.thread.text)"
    text += " at \(TimeText.timestamp(event.timeNanoseconds))"
    if let previous, event.timeNanoseconds >= previous.timeNanoseconds {
      let distance = event.timeNanoseconds - previous.timeNanoseconds
      // A thread's events of the same 20 µs have one time.
      text += distance > 0 ? ", \(TimeText.duration(distance)) later" : ", right after"
    }
    return text
  }

  private var blockText: String { entry.block == nil ? "" : ", \(ofBlock)" }

  /// Only a block from before a fork can have been freed without its allocation being known.
  private var freedBlockText: String {
    entry.block == nil ? ", a block of the process that forked" : blockText
  }

  private var ofBlock: String {
    guard let block = entry.block else { return "a block" }
    return text(of: block)
  }

  private func text(of block: ErrorsReport.Block) -> String {
    "a block of \(bytes.withUnit(block.size)) (\(block.category))"
  }

  /// `: variable table of parser`, or, of a constant, `: ` and its image; `: stack of app (T1, tid 4711)`.
  private var variableText: String {
    if let place = entry.place { return ": \(place.text)" }
    return entry.variable.map { ": \($0.name == nil ? "" : "variable ")\($0.text)" } ?? ""
  }

  /// `, right behind a block of 16 B (Malloc-16) that begins at 0x7f12a0`.
  private var neighbourText: String {
    guard let block = entry.neighbour else { return "" }
    let isBehind = entry.address >= block.address
    let distance =
      isBehind ? entry.address &- block.address &- block.size : block.address &- entry.address
    let place =
      isBehind
      ? (distance == 0 ? "right behind" : "\(bytes.withUnit(distance)) behind")
      : "\(bytes.withUnit(distance)) in front of"
    return ", \(place) \(text(of: block)) that begins at \(HexText.of(block.address))"
  }

  /// `right behind it`, or how far.
  private func placeBehind(_ offset: UInt64) -> String {
    guard let size = entry.block?.size, offset > size else { return "right behind it" }
    return "from \(bytes.withUnit(offset - size)) behind it on"
  }

  /// `right in front of it`, or how far.
  private func placeInFront(_ distance: UInt64, _ length: UInt64) -> String {
    distance == length
      ? "right in front of it" : "from \(bytes.withUnit(distance)) in front of it on"
  }

  /// `right behind the end of`, or where else.
  private func place(_ offset: Int64) -> String {
    guard offset >= 0 else { return "\(bytes.withUnit(offset.magnitude)) in front of" }
    let size = entry.block?.size ?? 0
    guard offset.magnitude > size else { return "right behind the end of" }
    return "\(bytes.withUnit(offset.magnitude - size)) behind the end of"
  }

  private var familyText: String {
    let allocated = entry.block?.allocated.function ?? "another function"
    let verb = isRealloc ? "reallocated" : isOfAnnounced ? "ended" : "freed"
    let isAnnounced = allocated == Operation.announced.name
    return
      "\(isAnnounced ? "announced" : "allocated") by \(allocated), \(verb) by \(entry.offending.function)"
  }
}

extension MemoryAccess.Kind {
  /// `Read`, as a noun.
  var noun: String {
    switch self {
    case .read: "Read"
    case .write: "Write"
    case .execute: "Jump"
    case .unknown: "Access"
    }
  }

  /// The noun, with its preposition.
  fileprivate var text: String { noun + (self == .read ? " of" : " to") }

  /// What was done to the block.
  fileprivate var participle: String {
    switch self {
    case .read: "Read"
    case .write: "Written"
    case .execute: "Jumped to"
    case .unknown: "Accessed"
    }
  }
}

extension ZombieUse.Discovery {
  /// When a change was found, as the end of a sentence.
  func text(at mark: String?) -> String {
    switch self {
    case .release: "before its memory was used again"
    case .end: "at the end of the process"
    case .mark: MarkText.place(mark)
    }
  }
}

/// Where a mark is meant.
private enum MarkText {
  /// `at the mark "loaded"`.
  static func place(_ name: String?) -> String {
    name.map { "at the mark \"\($0.printable)\"" } ?? "at the next mark of the program"
  }
}

extension BlockOverrun.Discovery {
  /// When the damage was found, as the end of a sentence.
  func text(after free: EventSummary?, at mark: String?) -> String {
    switch self {
    case .free where free?.function.hasPrefix("realloc") == true:
      "when it was passed to realloc"
    case .free: "when it was freed"
    case .end: "at the end of the process"
    case .mark: MarkText.place(mark)
    }
  }
}
