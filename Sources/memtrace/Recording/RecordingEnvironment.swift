import SystemPackage

/// The environment that turns a process into a traced process.
///
/// The variables are documented in docs/configuration.md.
struct RecordingEnvironment {
  /// The absolute path of the recorder.
  var library: FilePath
  /// The absolute path of the first process's trace.
  var output: FilePath
  /// Whether `%p` and `%n` in the file's name stand for the process ID and the program.
  var isTemplate = false
  /// The greatest number of frames kept per stack.
  var depth: Int
  /// The mean number of bytes between two samples; nil when everything is recorded.
  var sampleInterval: UInt64?
  /// Whether recording begins paused.
  var isPaused = false
  /// Whether an allocator that is part of the executable is recorded.
  var recordsBundledAllocator = false
  /// Whether calls that map memory are recorded.
  var recordsMappings = false
  /// The patterns of the types whose reference counts are recorded; nil for none.
  var refcounts: String?
  /// Other variables, as what is done to the heap meanwhile, with their values; nil for none.
  var variables: [(name: String, value: String?)] = []
  /// Whether child processes are recorded, too.
  var followsChildren: Bool
  /// Shared by all traces of one recording.
  var sessionID: SessionID
  /// When heap snapshots are taken, where that was said.
  var snapshots: [String: String] = [:]

  /// The variable that all processes of a recording have, with its identifier.
  static let sessionVariable = "MEMTRACE_SESSION"

  /// `base` with the recorder in front of the other libraries of `LD_PRELOAD`, and its options.
  ///
  /// Variables that a recording around this one has left are replaced, so that memtrace can
  /// record itself.
  func applied(to base: EnvironmentVariables) -> EnvironmentVariables {
    var result = base
    result.set("LD_PRELOAD", to: preload(with: base.bytes(of: "LD_PRELOAD")))
    result.set("MEMTRACE_OUTPUT", to: escapedOutput)
    result["MEMTRACE_DEPTH"] = String(depth)
    result["MEMTRACE_SAMPLE"] = sampleInterval.map { String($0) }
    result["MEMTRACE_PAUSED"] = isPaused ? "1" : nil
    result["MEMTRACE_BUNDLED_ALLOCATOR"] = recordsBundledAllocator ? "1" : nil
    result["MEMTRACE_MAPPINGS"] = recordsMappings ? "1" : nil
    result["MEMTRACE_REFCOUNTS"] = refcounts
    for (name, value) in variables { result[name] = value }
    result["MEMTRACE_FOLLOW"] = followsChildren ? "1" : "0"
    result[Self.sessionVariable] = sessionID.description
    result["MEMTRACE_LAUNCHED"] = "1"
    result["MEMTRACE_PARENT"] = nil
    for (name, value) in snapshots { result[name] = value }
    if result["MEMTRACE_VERBOSE"] == nil { result["MEMTRACE_VERBOSE"] = "1" }
    return result
  }

  /// The path, with all percent signs doubled that do not mean anything.
  private var escapedOutput: [UInt8] {
    let bytes = output.withPlatformString { CString(copying: $0).bytes }
    let slash = bytes.lastIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
    let plain = isTemplate ? bytes[..<slash] : bytes[...]
    return plain.flatMap { $0 == UInt8(ascii: "%") ? [$0, $0] : [$0] } + bytes[plain.endIndex...]
  }

  private func preload(with others: [UInt8]?) -> [UInt8] {
    let own = library.withPlatformString { CString(copying: $0).bytes }
    let recorder = Array("/\(PreloadLocator.fileName)".utf8)
    let kept = (others ?? [])
      .split(whereSeparator: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: " ") })
      .filter { $0.suffix(recorder.count) != recorder[...] }
    return Array(([own[...]] + kept).joined(separator: [UInt8(ascii: ":")]))
  }
}
