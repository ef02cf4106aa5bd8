import CAttach

#if canImport(Glibc)
  import Glibc
#endif

/// A process that runs, and its threads.
struct RemoteProcess {
  let pid: pid_t

  /// The threads at this moment, the first one first.
  var threads: [pid_t] {
    guard let directory = opendir("/proc/\(pid)/task") else { return [] }
    defer { closedir(directory) }
    var threads: [pid_t] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let tid = pid_t(name) { threads.append(tid) }
    }
    return threads.sorted { ($0 == pid ? 0 : $0) < ($1 == pid ? 0 : $1) }
  }

  /// Copies memory of the process.
  ///
  /// - Throws: ``AttachError`` when it is not there.
  func read(_ address: UInt64, count: Int) throws(AttachError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let error = cattach_read(pid, address, &bytes, count)
    guard error == 0 else { throw AttachError(errorNumber: error) }
    return bytes
  }

  /// Writes memory of the process.
  ///
  /// - Throws: ``AttachError`` when it cannot be written.
  func write(_ bytes: [UInt8], at address: UInt64) throws(AttachError) {
    let error = cattach_write(pid, address, bytes, bytes.count)
    guard error == 0 else { throw AttachError(errorNumber: error) }
  }

  /// A text of the process, up to its end or `limit` bytes.
  func text(at address: UInt64, limit: Int) -> String {
    var bytes: [UInt8] = []
    while bytes.count < limit, let byte = try? read(address + UInt64(bytes.count), count: 1)[0],
      byte != 0
    {
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension AttachError {
  init(errorNumber: Int32) {
    switch errorNumber {
    case EPERM, EACCES: self = .notPermitted
    case ESRCH: self = .ended
    default: self = .failed(errorNumber)
    }
  }
}
