/// The process that was recorded.
///
/// Source: the file header and the `PROCESS` record.
public struct TracedProcess: Hashable, Sendable {
  /// The process ID.
  public var pid: UInt32 = 0
  /// The process ID of the parent.
  public var ppid: UInt32 = 0
  /// The user ID.
  public var uid: UInt32 = 0
  /// The path of its executable; empty when the trace does not say.
  public var executablePath = ""
  /// Its working directory at the start of the recording.
  public var workingDirectory = ""
  /// Its arguments with the name it was called by first; may be empty.
  public var arguments: [String] = []
  /// When the recording began, in nanoseconds since 1970.
  public var startWallNanoseconds: UInt64 = 0
  /// A random name of the trace.
  public var traceID = TraceID()
  /// The trace of the process that forked or executed this one; nil when there is none.
  public var parentTraceID: TraceID?
  /// A random name shared by all traces of the recording.
  public var sessionID = TraceID()
  /// The ELF machine code: 62 for x86_64, 183 for aarch64.
  public var machine: UInt16 = 0

  /// Creates a description with every field empty.
  public init() {}

  /// The last component of the executable's path.
  public var name: String {
    guard let slash = executablePath.lastIndex(of: "/") else { return executablePath }
    return String(executablePath[executablePath.index(after: slash)...])
  }
}
