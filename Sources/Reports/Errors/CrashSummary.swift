import TraceReader

/// Where a process ended that did not mean to, and what it was about to do.
public struct CrashSummary: Sendable, Hashable {
  /// The signal, `SIGABRT` of a call of `abort`.
  public var signal: Int32
  /// What the signal is about, the kernel's `si_code`.
  public var code: Int32
  /// What was to be done; nil where it was no access to memory.
  public var access: MemoryAccess.Kind?
  /// What could not be accessed; nil where the kernel does not say.
  public var address: UInt64?
  /// Whether the thread has used up its stack.
  public var isStackOverflow: Bool
  /// The variable that lies there.
  var variable: ReportVariable?
  /// Who it was.
  public var thread: ThreadSummary
  /// Nanoseconds since the recording began.
  public var timeNanoseconds: UInt64
  /// The ID of the backtrace.
  public var stack: UInt32
  /// The backtrace, leaf first; empty where none was taken.
  public var frames: [ReportFrame]

  /// Names a crash.
  ///
  /// - Parameters:
  ///   - crash: What the trace says.
  ///   - source: How to name things.
  init(_ crash: Crash, source: ReportSource) {
    signal = crash.signal
    code = crash.code
    access = crash.isAccess ? crash.access : nil
    address = crash.accessedAddress
    isStackOverflow = crash.isStackOverflow
    variable = address.flatMap { source.variables.variable(at: $0, time: crash.time) }
    thread = source.threads.summary(of: crash.thread)
    timeNanoseconds = source.clock.nanoseconds(crash.time)
    stack = crash.stack.rawValue
    frames = source.names.frames(of: crash.stack)
  }

  /// `SEGV_ACCERR`: what is mapped there may not be used so.
  private static let forbidden: Int32 = 2
  /// Members of what a null pointer points to lie below: the kernel maps nothing there
  /// (`vm.mmap_min_addr`).
  private static let nearNull: UInt64 = 1 << 16

  /// What the process did: `wrote to 0x3, 3 B from a null pointer`, `called abort()`.
  var deed: String {
    if isStackOverflow { return "used up its stack" }
    if let access { return accessDeed(access) }
    return switch signal {
    case 4,
      5 where code > 0:
      "ran into a trap, or what is no instruction"
    case 6 where code <= 0: code == Self.ownCall ? Self.abort : "was sent SIGABRT"
    case 8 where code == 1: "divided by zero"
    case 8 where code > 0: "computed what has no result"
    default: "was sent \(SignalText.name(of: signal))"
    }
  }

  /// `SI_TKILL`: by a thread of the process, as `abort` does it.
  private static let ownCall: Int32 = -6

  /// As the ending of the process says it.
  private static let abort = "called abort()"

  private func accessDeed(_ access: MemoryAccess.Kind) -> String {
    guard let address else { return "followed a word that is no address" }
    guard access != .execute || address != 0 else { return "called a null pointer" }
    let verb =
      switch access {
      case .read: "read"
      case .write: "wrote to"
      case .execute: "called"
      case .unknown: "accessed"
      }
    return "\(verb) \(place(address))"
  }

  private func place(_ address: UInt64) -> String {
    if address == 0 { return "a null pointer" }
    let text = HexText.of(address)
    if address < Self.nearNull { return "\(text), \(address.grouped) B from a null pointer" }
    if let variable { return "\(text), \(variable.text), where that is not allowed" }
    switch (signal, code) {
    case (11, Crash.notMapped): return "\(text), where there is no memory"
    case (11, Self.forbidden): return "\(text), where that is not allowed"
    default: return text
    }
  }

  /// Writes what it did, and the stack.
  func write(to page: inout TextPage, frameLimit: Int?) {
    let when = "on \(thread.text) at \(TimeText.timestamp(timeNanoseconds))"
    let isAbort = deed == Self.abort
    page.line(Span(isAbort ? "   That was \(when):" : "   It \(deed), \(when):", .heading))
    StackText.write(frames, to: &page, indent: 7, limit: frameLimit ?? .max)
  }
}

extension CrashSummary: Encodable {
  enum CodingKeys: String, CodingKey {
    case signal, code, message, access, address, isStackOverflow, thread, timeNanoseconds, stack,
      frames
  }

  /// Writes the signal by its name, and the address as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(SignalText.name(of: signal), forKey: .signal)
    try container.encode(code, forKey: .code)
    try container.encode(deed, forKey: .message)
    try container.encodeIfPresent(access, forKey: .access)
    try container.encodeIfPresent(address.map(HexText.of), forKey: .address)
    try container.encode(isStackOverflow, forKey: .isStackOverflow)
    try container.encode(thread, forKey: .thread)
    try container.encode(timeNanoseconds, forKey: .timeNanoseconds)
    try container.encode(stack, forKey: .stack)
    try container.encode(frames, forKey: .frames)
  }
}
