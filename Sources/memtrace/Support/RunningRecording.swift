import CTraceFormat
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A process that runs and is being recorded, found by its process ID.
struct RunningRecording {
  let pid: pid_t
  /// Its trace, as this process can open it.
  let path: FilePath

  /// Finds the trace among the files that the process has mapped.
  ///
  /// - Throws: ``CommandFailure`` when there is no such process, it cannot be looked at, or is not
  ///   being recorded.
  init(pid: pid_t) throws(CommandFailure) {
    self.pid = pid
    let maps = try Self.text(of: pid, "maps")
    let ids = Self.processIDs(try Self.text(of: pid, "status"))
    let found = Self.sharedFiles(maps).lazy
      // In another mount namespace the path leads somewhere else, or nowhere.
      .flatMap { [$0, FilePath("/proc/\(pid)/root").appending($0.components)] }
      .first { path in
        TraceFileHeader(readingFrom: path).map { ids.contains($0.pid) && $0.hasNoEnding } ?? false
      }
    guard let found else {
      throw CommandFailure(
        "process \(pid) is not being recorded; start it with "
          + "`memtrace record --snapshot-on-request -- COMMAND`", exitStatus: ExitStatus.noTrace)
    }
    path = found
  }

  private static func text(of pid: pid_t, _ name: String) throws(CommandFailure) -> String {
    do {
      let file = try FileDescriptor.open("/proc/\(pid)/\(name)", .readOnly, options: .closeOnExec)
      defer { try? file.close() }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65536)
      while case let count = try buffer.withUnsafeMutableBytes({ try file.read(into: $0) }),
        count > 0
      {
        bytes += buffer[..<count]
      }
      return String(decoding: bytes, as: UTF8.self)
    } catch {
      let reason =
        error as? Errno == .noSuchFileOrDirectory
        ? "there is no process \(pid)" : "process \(pid) cannot be looked at: \(error)"
      throw CommandFailure(reason, exitStatus: ExitStatus.noTrace)
    }
  }

  /// The files of which the process has the beginning mapped, shared and writable.
  private static func sharedFiles(_ maps: String) -> [FilePath] {
    maps.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ", maxSplits: 5)
      guard fields.count == 6, fields[1] == "rw-s", fields[2].allSatisfy({ $0 == "0" }) else {
        return nil
      }
      return FilePath(String(fields[5].drop { $0 == " " }))
    }
  }

  /// The process ID in every namespace that the process is in.
  private static func processIDs(_ status: String) -> Set<pid_t> {
    let line = status.split(separator: "\n").first { $0.hasPrefix("NSpid:") } ?? ""
    return Set(line.split(whereSeparator: { $0 == "\t" || $0 == " " }).compactMap { pid_t($0) })
  }

  /// Whether the process has a handler for a signal.
  private func handles(_ signal: Int32) throws(CommandFailure) -> Bool {
    let lines = try Self.text(of: pid, "status").split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix("SigCgt:") }),
      let caught = line.split(separator: "\t").last.flatMap({ UInt64($0, radix: 16) })
    else { return false }
    return caught & 1 << UInt64(signal - 1) != 0
  }

  private func header() throws(CommandFailure) -> TraceFileHeader {
    guard let header = TraceFileHeader(readingFrom: path) else {
      throw CommandFailure("\(path): cannot be read any more", exitStatus: ExitStatus.noTrace)
    }
    return header
  }

  /// Asks for a snapshot and waits until it is written.
  ///
  /// - Returns: Its number.
  /// - Throws: ``CommandFailure`` when the process does not take requests, ends, or does not answer.
  func takeSnapshot(timeout: Duration) throws(CommandFailure) -> Int {
    let signal = try requestSignal()
    let deadline = ContinuousClock.now + timeout
    // One that is being written now would let the process pass over the request.
    var fields = try header().fields
    while fields.snapshots_done < fields.snapshots { fields = try pause(deadline) }
    let number = fields.snapshots
    var nextRequest = ContinuousClock.now
    while fields.snapshots_done <= number {
      if fields.snapshots == number, ContinuousClock.now >= nextRequest {
        try send(signal)
        nextRequest = ContinuousClock.now + .seconds(1)
      }
      fields = try pause(deadline)
    }
    return Int(number)
  }

  /// The signal that the recorder handles; sent to anything else it would end the process.
  private func requestSignal() throws(CommandFailure) -> Int32 {
    let signal = Int32(truncatingIfNeeded: try header().fields.snapshot_signal)
    guard (SIGUSR1...64).contains(signal) else {
      throw CommandFailure(
        "process \(pid) takes no requests: it was recorded without --snapshot-on-request",
        exitStatus: ExitStatus.cannotRecord)
    }
    guard try handles(signal) else {
      throw CommandFailure(
        "process \(pid) takes no requests any more: it no longer handles signal \(signal)",
        exitStatus: ExitStatus.cannotRecord)
    }
    return signal
  }

  private func send(_ signal: Int32) throws(CommandFailure) {
    guard kill(pid, signal) != 0 else { return }
    throw CommandFailure(
      "process \(pid) cannot be asked: \(Errno(rawValue: errno))",
      exitStatus: ExitStatus.cannotRecord)
  }

  /// Lets some time pass.
  private func pause(_ deadline: ContinuousClock.Instant) throws(CommandFailure) -> mt_file_header {
    guard ContinuousClock.now < deadline else {
      throw CommandFailure(
        "process \(pid) has not written a snapshot in time; its threads may hold back the signal, "
          + "or its disk is full", exitStatus: ExitStatus.ioError)
    }
    guard kill(pid, 0) == 0 else {
      throw CommandFailure("process \(pid) has ended", exitStatus: ExitStatus.noTrace)
    }
    usleep(5000)
    return try header().fields
  }
}
