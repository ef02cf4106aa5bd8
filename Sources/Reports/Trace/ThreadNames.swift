import TraceReader

/// Threads as reports show them.
public struct ThreadNames: Sendable {
  private let threads: [ThreadIndex: ThreadInfo]

  /// Makes names for the threads of one trace.
  public init(_ threads: [ThreadInfo]) {
    self.threads = Dictionary(threads.map { ($0.index, $0) }, uniquingKeysWith: { $1 })
  }

  /// A thread's description; without name or ID when the trace knows none.
  public func summary(of index: ThreadIndex) -> ThreadSummary {
    let info = threads[index]
    return ThreadSummary(index: index.rawValue, tid: info?.tid ?? 0, name: info?.name ?? "")
  }
}

/// A thread of the traced process.
public struct ThreadSummary: Sendable, Hashable, Encodable {
  /// The recorder's index: 1, 2, 3 …; 0 when the thread is not known.
  public var index: UInt32
  /// The kernel's thread ID; 0 when not known.
  public var tid: UInt32
  /// The last name the thread had; may be empty.
  public var name: String

  /// Makes a description.
  public init(index: UInt32, tid: UInt32 = 0, name: String = "") {
    self.index = index
    self.tid = tid
    self.name = name
  }

  /// `worker (T3, tid 4711)`.
  public var text: String {
    if index == 0 { return "unknown thread" }
    let ids = tid == 0 ? "T\(index)" : "T\(index), tid \(tid)"
    return name.isEmpty ? "thread \(ids)" : "\(name) (\(ids))"
  }

  /// `worker T3`, for columns of tables.
  var shortText: String {
    if index == 0 { return "unknown" }
    return name.isEmpty ? "T\(index)" : "\(name) T\(index)"
  }

  /// `worker`, else `T3`: what a user can ask for.
  var briefName: String { name.isEmpty ? "T\(index)" : name }

  /// Whether the user means this thread: by `T3`, by kernel ID, or by name with `*` and `?`.
  func matches(_ pattern: String) -> Bool {
    if pattern == "T\(index)" || (tid != 0 && pattern == String(tid)) { return true }
    return !name.isEmpty && Glob.matches(name, pattern)
  }
}
