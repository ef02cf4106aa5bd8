import CAttach

#if canImport(Glibc)
  import Glibc
#endif

/// A thread that was stopped, to make calls for us.
struct StoppedThread {
  let pid: pid_t
  let tid: pid_t

  /// Stops a thread; the others run on.
  ///
  /// - Throws: ``AttachError`` when it cannot be stopped.
  init(pid: pid_t, tid: pid_t) throws(AttachError) {
    self.pid = pid
    self.tid = tid
    switch cattach_stop(tid) {
    case 0: return
    case EPERM where Self.isTraced(pid, tid): throw .tracedByOther
    case let error: throw AttachError(errorNumber: error)
    }
  }

  /// Whether a thread waits so that it would not stop.
  static func isUnstoppable(pid: pid_t, tid: pid_t) -> Bool { cattach_is_unstoppable(pid, tid) }

  /// Whether a thread is in a call that writes, which would come short of what it was to write.
  static func isWriting(pid: pid_t, tid: pid_t) -> Bool { cattach_is_writing(pid, tid) }

  /// Lets a thread go on that did not stop in time (`EAGAIN`), once it has.
  ///
  /// - Returns: Whether it is through.
  static func letGoLate(pid: pid_t, tid: pid_t) -> Bool { cattach_let_go_late(pid, tid) }

  /// Looks whether the thread's seccomp filters let the recorder's calls pass.
  ///
  /// - Throws: ``AttachError`` where they do not, or cannot be looked at.
  func checkFilters() throws(AttachError) {
    var spares = false
    switch cattach_filters(tid, &spares) {
    case 0: if !spares { throw .confined }
    case EACCES, EPERM, EIO, EINVAL: throw .unknownFilters
    case let error: throw AttachError(errorNumber: error)
    }
  }

  /// Lets the thread go on where it was.
  func letGo() { cattach_let_go(pid, tid) }

  /// Lets somebody make calls in the thread, which gets back all that it had.
  ///
  /// - Parameters:
  ///   - instruction: Where the process has an instruction that makes a system call.
  ///   - body: Makes the calls.
  /// - Returns: What `body` does.
  /// - Throws: ``AttachError`` of the calls.
  func withCalls<Result>(
    instruction: UInt64, _ body: (RemoteCalls) throws(AttachError) -> Result
  ) throws(AttachError) -> Result {
    var error: Int32 = 0
    guard let calls = cattach_calls_begin(pid, tid, instruction, &error) else {
      throw AttachError(errorNumber: error)
    }
    let result: Result
    do {
      result = try body(RemoteCalls(tid: tid, calls: calls))
    } catch {
      _ = cattach_calls_end(calls)
      throw error
    }
    let ending = cattach_calls_end(calls)
    guard ending == 0 else { throw AttachError(errorNumber: ending) }
    return result
  }

  private static func isTraced(_ pid: pid_t, _ tid: pid_t) -> Bool {
    guard let file = fopen("/proc/\(pid)/task/\(tid)/status", "re") else { return false }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if text.hasPrefix("TracerPid:") { return !text.hasSuffix("\t0\n") }
    }
    return false
  }
}

/// Calls that a stopped thread makes.
struct RemoteCalls {
  /// Who makes them.
  let tid: pid_t
  fileprivate let calls: OpaquePointer

  /// Makes a system call.
  ///
  /// - Returns: Its result, at least 0.
  /// - Throws: ``AttachError`` when it fails.
  func systemCall(_ number: Int, _ arguments: [UInt64]) throws(AttachError) -> UInt64 {
    let all = arguments + [UInt64](repeating: 0, count: 6 - arguments.count)
    var result: Int64 = 0
    let error = cattach_system_call(calls, number, all, &result)
    guard error == 0 else { throw AttachError(errorNumber: error) }
    guard result >= 0 || result < -4095 else { throw .failed(Int32(-result)) }
    return UInt64(bitPattern: result)
  }

  /// Calls a function.
  ///
  /// - Parameters:
  ///   - function: Its address.
  ///   - arguments: At most three.
  ///   - stack: The highest address of a stack for it, a multiple of 16.
  /// - Returns: What it returns.
  /// - Throws: ``AttachError`` when it does not return.
  func call(
    _ function: UInt64, _ arguments: [UInt64] = [], stack: UInt64
  ) throws(AttachError) -> UInt64 {
    let all = arguments + [UInt64](repeating: 0, count: 3 - arguments.count)
    var result: UInt64 = 0
    let error = cattach_call(calls, function, all, stack, &result)
    guard error == 0 else { throw AttachError(errorNumber: error) }
    return result
  }
}
