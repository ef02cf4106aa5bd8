import TraceReader

/// One line of a dump.
struct DumpRecord {
  enum Value {
    case number(UInt64)
    case signed(Int64)
    case address(UInt64)
    case text(String)
    /// A word of ours, which needs no quotes.
    case word(String)
    case list([String])
    case flag
  }

  let kind: TraceDump.Kind
  private(set) var fields: [(name: String, value: Value)] = []

  init(_ kind: TraceDump.Kind) {
    self.kind = kind
  }

  private mutating func add(_ name: String, _ value: Value) {
    fields.append((name, value))
  }

  /// The line of the text form: `EVENT index=0 time=12 …`.
  var text: String {
    var line = kind.rawValue.uppercased()
    for (name, value) in fields {
      switch value {
      case .number(let number): line += " \(name)=\(number)"
      case .signed(let number): line += " \(name)=\(number)"
      case .address(let address): line += " \(name)=\(HexText.of(address))"
      case .text(let text): line += " \(name)=\(Self.quoted(text))"
      case .word(let word): line += " \(name)=\(word)"
      case .list(let texts): line += " \(name)=[\(texts.map(Self.quoted).joined(separator: ","))]"
      case .flag: line += " \(name)"
      }
    }
    return line
  }

  /// The same as one JSON object.
  var json: String {
    var line = "{\"kind\":\"\(kind.rawValue)\""
    for (name, value) in fields {
      line += ",\"\(name)\":"
      switch value {
      case .number(let number): line += "\(number)"
      case .signed(let number): line += "\(number)"
      case .address(let address): line += "\"\(HexText.of(address))\""
      case .text(let text): line += Self.jsonQuoted(text)
      case .word(let word): line += Self.jsonQuoted(word)
      case .list(let texts): line += "[\(texts.map(Self.jsonQuoted).joined(separator: ","))]"
      case .flag: line += "true"
      }
    }
    return line + "}"
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.printable.split(separator: "\"", omittingEmptySubsequences: false)
    return "\"" + escaped.joined(separator: "\\\"") + "\""
  }

  private static func jsonQuoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20:
        result += "\\u" + String(scalar.value, radix: 16).leftPadded(to: 4, with: "0")
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension DumpRecord {
  init(header trace: Trace) {
    let header = trace.header
    self.init(.header)
    add("schema", .word("memtrace.dump"))
    add("version", .number(1))
    add("format", .word("\(header.major).\(header.minor)"))
    add("bytes", .number(trace.fileSize))
    add("machine", .number(UInt64(header.machine)))
    add("flags", .number(UInt64(header.flags.rawValue)))
    add("traceID", .word(header.traceID.description))
    add("parentTraceID", .word(header.parentTraceID.description))
    add("sessionID", .word(header.sessionID.description))
    if header.sampleInterval > 0 { add("sampleInterval", .number(header.sampleInterval)) }
    let ending = EndingSummary(trace.ending)
    add("ending", .word(ending.kind))
    if let status = ending.status { add("status", .signed(Int64(status))) }
    if let signal = ending.signal { add("signal", .signed(Int64(signal))) }
  }

  init(process: TracedProcess) {
    self.init(.process)
    add("pid", .number(UInt64(process.pid)))
    add("ppid", .number(UInt64(process.ppid)))
    add("executable", .text(process.executablePath))
    add("directory", .text(process.workingDirectory))
    add("arguments", .list(process.arguments))
  }

  init(image: Image, clock: TraceClock) {
    self.init(.image)
    add("index", .number(UInt64(image.index)))
    add("path", .text(image.path))
    let id = image.buildID.map { String($0, radix: 16).leftPadded(to: 2, with: "0") }
    add("buildID", .word(id.isEmpty ? "none" : id.joined()))
    add("bias", .address(image.loadBias))
    add("start", .address(image.start.rawValue))
    add("end", .address(image.end.rawValue))
    add("textStart", .address(image.textStart.rawValue))
    add("textEnd", .address(image.textEnd.rawValue))
    add("loaded", .number(clock.nanoseconds(image.loadTime)))
    if let time = image.unloadTime { add("unloaded", .number(clock.nanoseconds(time))) }
    add("firstStack", .number(UInt64(image.firstStack.rawValue)))
    if let stack = image.unloadedFromStack {
      add("unloadedFromStack", .number(UInt64(stack.rawValue)))
    }
  }

  init(thread: ThreadInfo, clock: TraceClock) {
    self.init(.thread)
    add("index", .number(UInt64(thread.index.rawValue)))
    add("tid", .number(UInt64(thread.tid)))
    add("name", .text(thread.name))
    add("began", .number(clock.nanoseconds(thread.began)))
    if let time = thread.ended { add("ended", .number(clock.nanoseconds(time))) }
  }

  init(note: Note, clock: TraceClock) {
    self.init(.note)
    add("note", .word(NoteText.kind(note.kind)))
    add("time", .number(clock.nanoseconds(note.time)))
    add("value", .number(note.value))
    add("text", .text(note.text))
  }

  init(mark: Mark, clock: TraceClock) {
    self.init(.mark)
    add("time", .number(clock.nanoseconds(mark.time)))
    add("thread", .number(UInt64(mark.thread.rawValue)))
    add("name", .text(mark.name))
  }

  init(ignored: IgnoredBlock, clock: TraceClock) {
    self.init(.ignored)
    add("time", .number(clock.nanoseconds(ignored.time)))
    add("thread", .number(UInt64(ignored.thread.rawValue)))
    add("address", .address(ignored.address.rawValue))
  }

  init(window: RecordingWindow, clock: TraceClock) {
    self.init(.window)
    add("start", .number(clock.nanoseconds(window.start)))
    if let end = window.end { add("end", .number(clock.nanoseconds(end))) }
  }

  init(refcounts: RefcountRecording) {
    self.init(.refcounts)
    add("patterns", .text(refcounts.patterns))
    add("runtimes", .list(refcounts.runtimes))
    add("refusals", .list(refcounts.refusals))
  }

  init(mapping call: MappingCall, clock: TraceClock) {
    self.init(.mapping)
    add("call", .word(call.function.name))
    add("called", .number(clock.nanoseconds(call.endTime)))
    add("time", .number(clock.nanoseconds(call.time)))
    add("thread", .number(UInt64(call.thread.rawValue)))
    if !call.ended.isEmpty || call.function == .mremap {
      add("ended", .address(call.ended.start))
      add("endedLength", .number(call.ended.length))
    }
    if !call.begun.isEmpty {
      add("address", .address(call.begun.start))
      add("length", .number(call.begun.length))
    }
    add("protection", .number(UInt64(call.protection)))
    add("flags", .number(UInt64(call.flags)))
    if !call.path.isEmpty {
      add("path", .text(call.path))
      add("offset", .number(call.offset))
    }
    add("stack", .number(UInt64(call.stack.rawValue)))
  }

  init(refcount event: RefcountEvent, clock: TraceClock) {
    self.init(.refcount)
    add("time", .number(clock.nanoseconds(event.time)))
    add("thread", .number(UInt64(event.thread.rawValue)))
    add("call", .text(event.call == .tryRetainFailed ? "swift_tryRetain failed" : event.call.name))
    add("object", .address(event.object.rawValue))
    add("change", .signed(event.change))
    if event.isOfNoObject { add("noObject", .flag) } else { add("count", .number(event.count)) }
    add("stack", .number(UInt64(event.stack.rawValue)))
  }

  init(damage: Damage) {
    self.init(.damage)
    add("offset", .number(damage.offset))
    add("length", .number(damage.length))
    add("reason", .text(damage.reason))
  }

  init(frame: RawFrame, parent: StackID?, isCut: Bool) {
    self.init(.stack)
    add("id", .number(UInt64(frame.node.rawValue)))
    add("parent", .number(UInt64(parent?.rawValue ?? 0)))
    if let omitted = frame.omitted {
      add("omitted", .number(omitted))
    } else {
      add("pc", .address(frame.returnAddress.rawValue))
    }
    if frame.isExact { add("exact", .flag) }
    if isCut { add("cut", .flag) }
  }

  init(event: Event, index: UInt64, clock: TraceClock) {
    self.init(.event)
    add("index", .number(index))
    add("time", .number(clock.nanoseconds(event.time)))
    add("thread", .number(UInt64(event.thread.rawValue)))
    add("operation", .text(Self.name(of: event.operation)))
    if event.operation == .failed {
      add("function", .text(event.function.name))
    } else if event.operation != .reallocFail && event.operation != .reallocLeft {
      add("address", .address(event.address.rawValue))
    }
    if event.kind == .allocation || event.operation.hasSize {
      add("size", .number(event.size))
    }
    if event.operation.hasAlignment { add("alignment", .number(event.alignment)) }
    if ![.reallocEnd, .reallocFail, .reallocLeft].contains(event.operation) {
      add("stack", .number(UInt64(event.stack.rawValue)))
    }
  }

  /// The halves of a `realloc` share a name elsewhere; here they are told apart.
  private static func name(of operation: Operation) -> String {
    switch operation {
    case .reallocBegin: "realloc begin"
    case .reallocEnd: "realloc end"
    case .reallocFail: "realloc failed"
    case .reallocLeft: "realloc out of the sample"
    default: operation.name
    }
  }
}
