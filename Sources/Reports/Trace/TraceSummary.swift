import TraceReader

/// Which trace a report is about: who ran, how long, and how it ended.
public struct TraceSummary: Sendable, Hashable, Encodable {
  /// The file, as the user named it; nil for a temporary recording.
  public var file: String?
  /// The path of the executable.
  public var executable: String
  /// The arguments, the name it was called by first.
  public var arguments: [String]
  /// What the process called itself at its end (`postgres: checkpointer`); nil where that is its name.
  public var title: String?
  /// The process ID.
  public var pid: UInt32
  /// When the recording began, nanoseconds since 1970.
  public var startedAtNanoseconds: UInt64
  /// From the beginning of the recording to the last event or the end, nanoseconds.
  public var durationNanoseconds: UInt64
  /// How the process ended.
  public var ending: EndingSummary
  /// How the allocations were sampled; nil when all were recorded.
  public var sampling: SamplingSummary?
  /// When allocations were recorded; nil where recording could not be paused.
  public var windows: WindowsSummary?
  /// Which allocations were made to fail; nil for none.
  public var shortage: ShortageSummary?
  /// The most bytes that were in memory at once, whatever for; nil where that is not known.
  public var peakResidentBytes: UInt64?

  /// Makes a summary.
  public init(
    file: String?, executable: String, arguments: [String] = [], pid: UInt32 = 0,
    startedAtNanoseconds: UInt64 = 0, durationNanoseconds: UInt64 = 0,
    ending: EndingSummary = EndingSummary(.unknown)
  ) {
    self.file = file
    self.executable = executable
    self.arguments = arguments
    self.pid = pid
    self.startedAtNanoseconds = startedAtNanoseconds
    self.durationNanoseconds = durationNanoseconds
    self.ending = ending
  }

  /// The name of the program: of its file, or what it was called by where it executes a copy of that which has no name
  /// (a sealed one in memory, as container runtimes make of themselves); empty where it is not known.
  public var programName: String {
    let isCopy = executable == "/" || executable.hasPrefix("/memfd:")
    let called = isCopy ? arguments.first ?? "" : ""
    return ReportFrame.lastComponent(called.isEmpty ? executable : called)
  }

  /// The command line on one line, quoted where a shell would need it.
  public var commandLine: String {
    if arguments.isEmpty { return executable.isEmpty ? "an unknown program" : executable }
    return writtenArguments.map(ShellText.quoted).joined(separator: " ")
  }

  /// The arguments without those that a title has been written over: what it leaves of them is empty.
  private var writtenArguments: ArraySlice<String> {
    guard windows?.attachedAfterNanoseconds != nil,
      let last = arguments.lastIndex(where: { !$0.isEmpty })
    else { return arguments[...] }
    return arguments[...last]
  }

  /// What to type for this trace in a follow-up command.
  ///
  /// A temporary recording has no file any more; the name is what a repetition would be called.
  var fileArgument: String {
    let name = programName
    return ShellText.quoted(file ?? "\(name.isEmpty ? "program" : name).mtrace")
  }
}

/// How the traced process ended.
public struct EndingSummary: Sendable, Hashable, Encodable {
  /// `exit`, `_exit`, `quick_exit`, `exec`, `abort`, `signal`, `running` or `unknown`.
  public var kind: String
  /// The exit status, for the three kinds of exit.
  public var status: Int32?
  /// The signal, when one killed the process.
  public var signal: Int32?

  /// Takes over how a trace ended.
  public init(_ ending: TraceEnding) {
    switch ending {
    case .exit(let status): (kind, self.status) = ("exit", status)
    case .underscoreExit(let status): (kind, self.status) = ("_exit", status)
    case .quickExit(let status): (kind, self.status) = ("quick_exit", status)
    case .exec: kind = "exec"
    case .abort: kind = "abort"
    case .signal(let number): (kind, signal) = ("signal", number)
    case .running: kind = "running"
    case .unknown: kind = "unknown"
    }
  }

  /// Whether the process ended as programs should: by an exit with status 0, or by an exec.
  var isClean: Bool { (status == 0 && signal == nil) || kind == "exec" }

  /// Whether it is known how, and with that when.
  var isKnown: Bool { kind != "unknown" && kind != "running" }

  /// Whether the process ended by a fault or an abort of its own.
  var isCrash: Bool {
    kind == "abort" || signal.map { SignalText.faults.contains($0) } ?? false
  }

  /// Whether the process called `abort`, or was sent its signal.
  var isAbort: Bool { kind == "abort" || signal == 6 }

  /// In words: `exited with status 0`, `was killed by signal 6 (SIGABRT)`.
  public var text: String {
    switch kind {
    case "exit": "exited with status \(status ?? 0)"
    case "_exit", "quick_exit": "exited with status \(status ?? 0), by \(kind)"
    case "exec": "replaced itself by another program (exec)"
    case "abort": "called abort()"
    case "signal": "was killed by signal \(signal ?? 0)\(SignalText.suffix(of: signal ?? 0))"
    case "running": "is still running"
    default: "has written no end: it was killed, crashed, or still runs"
    }
  }
}

/// Names of the signals that kill.
public enum SignalText {
  private static let names: [Int32: String] = [
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS",
    8: "SIGFPE", 9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE",
    14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF",
    31: "SIGSYS",
  ]

  /// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: what a program brings upon itself.
  static let faults: Set<Int32> = [4, 5, 6, 7, 8, 11]

  /// `SIGSEGV`, or `signal 35`.
  public static func name(of signal: Int32) -> String {
    names[signal] ?? "signal \(signal)"
  }

  /// ` (SIGSEGV)`, or nothing for a signal without a name.
  public static func suffix(of signal: Int32) -> String {
    names[signal].map { " (\($0))" } ?? ""
  }
}

/// Words as a shell takes them.
public enum ShellText {
  /// The word, in single quotes where it needs them.
  public static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        return true
      default: return "-_./:=@%+,".utf8.contains(byte)
      }
    }
    if isPlain && !word.isEmpty { return word }
    // Reports write control characters out: what they print is to be typed all the same.
    if word != word.printable { return "$'\(word.unicodeScalars.map(typed).joined())'" }
    let escaped = word.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "'\\''")
    return "'\(escaped)'"
  }

  /// A character between `$'` and `'`, as bash, zsh and ksh read it.
  private static func typed(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "'", "\\": return "\\\(scalar)"
    case "\n": return "\\n"
    case "\t": return "\\t"
    default: break
    }
    let text = String(scalar)
    guard text != text.printable else { return text }
    return text.utf8.map { "\\x" + String($0, radix: 16).leftPadded(to: 2, with: "0") }.joined()
  }
}
