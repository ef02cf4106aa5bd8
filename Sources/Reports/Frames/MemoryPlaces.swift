import TraceReader

/// What addresses are that neither an allocator nor an image has: stacks, arguments, mappings.
///
/// Only a heap snapshot tells of the stacks of threads; that of the main thread the header does.
public struct MemoryPlaces: Sendable {
  private let mainStack: UInt64
  private let mainThread: ThreadSummary?
  private let snapshots: [SnapshotInfo]
  private let threads: ThreadNames

  /// Makes names for the memory of one trace; without arguments it knows none.
  ///
  /// - Parameter trace: The trace.
  public init(_ trace: Trace? = nil) {
    let known = trace?.threads ?? []
    let names = ThreadNames(known)
    threads = names
    mainStack = trace?.header.mainStack ?? 0
    snapshots = trace?.snapshots ?? []
    // A child runs on the stack of the thread that forked, which need not be the main one.
    let isForked = trace?.header.flags.contains(.forked) ?? true
    let main = isForked ? nil : known.first { $0.tid == trace?.header.pid }
    mainThread = main.map { names.summary(of: $0.index) }
  }

  /// What has an address.
  ///
  /// - Parameters:
  ///   - address: Any address.
  ///   - time: When.
  /// - Returns: nil where nothing tells.
  func place(at address: UInt64, time: EventTime) -> MemoryPlace? {
    // The next snapshot knows threads that have begun since the one before.
    let snapshot = snapshots.first { $0.time >= time } ?? snapshots.last
    let region = snapshot?.region(containing: address)
    if let thread = region?.thread, region?.kind == .stack || region?.kind == .threadLocal {
      let summary = threads.summary(of: ThreadIndex(thread))
      if region?.kind == .threadLocal { return .threadLocal(summary) }
      // The arguments lie in the same mapping.
      if !isArgument(address) { return .stack(summary) }
    }
    if isArgument(address) { return .arguments }
    if isOnMainStack(address) { return .stack(mainThread) }
    if region?.kind == .file, let path = region?.path { return .file(path) }
    return nil
  }

  /// The kernel gives arguments and environment three quarters of 8 MiB at most.
  private func isArgument(_ address: UInt64) -> Bool {
    mainStack != 0 && address >= mainStack && address - mainStack < 6 << 20
  }

  /// The kernel maps nothing in the 128 MiB below the beginning of the stack by itself.
  private func isOnMainStack(_ address: UInt64) -> Bool {
    mainStack != 0 && address < mainStack && mainStack - address < 128 << 20
  }
}

/// What has an address.
enum MemoryPlace: Sendable, Hashable {
  /// The stack of a thread; nil for the main one of a process that forked.
  case stack(ThreadSummary?)
  /// The thread-local variables of a thread, or its stack, which glibc keeps in one mapping.
  case threadLocal(ThreadSummary)
  /// The arguments of the program, or its environment.
  case arguments
  /// A mapped file.
  case file(String)

  /// `stack of worker (T2, tid 4712)`, `mapping of /dev/shm/pool`.
  var text: String {
    switch self {
    case .stack(let thread): "stack of \(thread?.text ?? "the main thread")"
    case .threadLocal(let thread): "stack or thread-local variable of \(thread.text)"
    case .arguments: "arguments or environment of the program"
    case .file(let path): "mapping of \(path)"
    }
  }

  /// What it is that is not to be freed.
  var advice: String {
    switch self {
    case .stack: "a variable of a function"
    case .threadLocal: "a variable of a function or a thread"
    case .arguments: "an argument of main or what getenv returned"
    case .file: "what mmap returned"
    }
  }
}
