/// Where a thread of another process stands, as far as it tells whether the thread may be given
/// something else to do.
struct ThreadStack {
  struct Frame {
    /// The path of the image; empty in none.
    var image: String
    /// The name of the function; empty where it has no symbol.
    var function: String
    /// Whether the thread was interrupted here: where it was stopped, or by a signal.
    var isInterrupted = false
  }

  /// From where the thread stands outwards.
  var frames: [Frame]
  /// Whether the outermost frame was reached.
  var isComplete: Bool
}

/// Whether a thread may call the loader and the allocator in the middle of what it does.
///
/// Both take locks, and both leave their data in disorder while they are at work: a thread that was
/// stopped within one of them must not enter it again. So it must stand in code of the program, or
/// wait in a system call that the program has asked for.
struct SafePoint {
  /// Why a thread is not at a safe point.
  enum Obstacle: String, Equatable {
    case unknownStack = "its stack cannot be followed to its end"
    case loader = "it is in the loader"
    case allocator = "it is in the allocator"
    case library = "it is within a function of the C library"
    case signalHandler = "it is in a signal handler"
  }

  /// - Parameter stack: The stack of a stopped thread.
  /// - Returns: What stands in the way; nil at a safe point.
  static func obstacle(in stack: ThreadStack) -> Obstacle? {
    let frames = stack.frames
    guard stack.isComplete, let outermost = frames.last, !outermost.image.isEmpty else {
      return .unknownStack
    }
    if frames.dropFirst().contains(where: \.isInterrupted) { return .signalHandler }
    if frames.contains(where: isInLoader) { return .loader }
    if frames.contains(where: isInAllocator) { return .allocator }
    return isWithinLibrary(frames) ? .library : nil
  }

  private static func isInLoader(_ frame: ThreadStack.Frame) -> Bool {
    let name = lastComponent(frame.image)
    // Its callbacks are called with its lock held.
    return name.hasPrefix("ld-") || name.hasPrefix("ld.so") || name.hasPrefix("ld64.so")
      || frame.function == "dl_iterate_phdr"
  }

  private static func isInAllocator(_ frame: ThreadStack.Frame) -> Bool {
    if frame.function.hasPrefix("_Zn") || frame.function.hasPrefix("_Zd") { return true }
    return allocatorFunctions.contains(plainName(frame.function))
  }

  /// The innermost functions may be the C library's: then they are to be ones that only wait.
  ///
  /// What makes the system call for them has no name: since glibc 2.41 these are three functions.
  private static func isWithinLibrary(_ frames: [ThreadStack.Frame]) -> Bool {
    let inner = frames.prefix(while: isOfLibrary)
    guard let entered = inner.last else { return false }
    let waits = inner.first { !$0.function.isEmpty } ?? entered
    return !waitingFunctions.contains(plainName(entered.function))
      && !waitingFunctions.contains(plainName(waits.function))
  }

  private static func isOfLibrary(_ frame: ThreadStack.Frame) -> Bool {
    let name = lastComponent(frame.image)
    return ["libc.so", "libc-2", "libpthread", "librt", "libdl"].contains { name.hasPrefix($0) }
  }

  private static func lastComponent(_ path: String) -> Substring {
    path.split(separator: "/").last ?? ""
  }

  /// A function's name without what the C library puts before it and behind it for its own use.
  static func plainName(_ name: String) -> String {
    var rest = name[...]
    for prefix in ["__GI_", "__libc_", "__new_", "___", "__", "_"] where rest.hasPrefix(prefix) {
      rest = rest.dropFirst(prefix.count)
    }
    for suffix in ["_nocancel", "_time64", "64"] where rest.hasSuffix(suffix) {
      rest = rest.dropLast(suffix.count)
    }
    return String(rest)
  }

  private static let allocatorFunctions: Set<String> = [
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "posix_memalign",
    "aligned_alloc", "memalign", "valloc", "pvalloc", "malloc_trim", "malloc_usable_size",
    "mallinfo", "mallinfo2", "malloc_info", "mallopt", "fork", "register_atfork",
    "run_exit_handlers",
  ]

  /// What waits and holds none of the locks that the loader and the allocator take.
  private static let waitingFunctions: Set<String> = [
    "accept", "accept4", "clock_nanosleep", "connect", "epoll_pwait", "epoll_pwait2", "epoll_wait",
    "fcntl", "flock", "futimens", "getrandom", "io_getevents", "ioctl", "lseek", "mq_receive",
    "mq_send", "mq_timedreceive", "mq_timedsend", "msgrcv", "msgsnd", "nanosleep", "open", "openat",
    "pause", "poll", "ppoll", "pread", "preadv", "preadv2", "pselect", "pthread_barrier_wait",
    "pthread_clockjoin_np", "pthread_cond_clockwait", "pthread_cond_timedwait", "pthread_cond_wait",
    "pthread_join", "pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock", "pthread_timedjoin_np", "pwrite", "pwritev", "pwritev2", "read",
    "readv", "recv", "recvfrom", "recvmmsg", "recvmsg", "sched_yield", "select", "sem_clockwait",
    "sem_timedwait", "sem_wait", "semop", "semtimedop", "send", "sendfile", "sendmmsg", "sendmsg",
    "sendto", "sigsuspend", "sigtimedwait", "sigwait", "sigwaitinfo", "sleep", "splice", "syscall",
    "usleep", "wait", "wait3", "wait4", "waitid", "waitpid", "write", "writev",
  ]
}
