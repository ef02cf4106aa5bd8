import SystemPackage

/// The process that writes a trace, as far as it may be looked at.
enum WritingProcess {
  /// Looks whether it still has the beginning of the trace mapped, shared and writable.
  ///
  /// - Parameters:
  ///   - pid: What it calls itself: in a container, another number than on this machine.
  ///   - inode: The number of the trace in its file system.
  /// - Returns: false as well where it may not be looked at.
  static func isThere(pid: UInt32, inode: UInt64) -> Bool {
    if hasMapped(inode, process: "\(pid)") { return true }
    return others(calledInside: pid).contains { hasMapped(inode, process: $0) }
  }

  /// Looks whether a process of a container calls itself by a number.
  ///
  /// - Parameters:
  ///   - pid: The number.
  ///   - status: What `/proc` says of the process.
  /// - Returns: false as well where it is in no container.
  static func isCalledInside(_ pid: UInt32, status: String) -> Bool {
    let line = status.split(separator: "\n").first { $0.hasPrefix("NSpid:") } ?? ""
    let numbers = line.split(whereSeparator: \.isWhitespace).dropFirst()
    return numbers.count > 1 && numbers.last == "\(pid)"
  }

  private static func others(calledInside pid: UInt32) -> [String] {
    ProcessFolder.names(in: "/proc").filter { name in
      text("/proc/\(name)/status").map { isCalledInside(pid, status: $0) } ?? false
    }
  }

  private static func hasMapped(_ inode: UInt64, process: String) -> Bool {
    guard let maps = text("\(ProcessFolder.path(of: process))/maps") else { return false }
    return SharedMapping.all(inMaps: maps).contains { $0.inode == inode }
  }

  /// What a file of `/proc` holds, whose size is not known before; nil where it cannot be read.
  private static func text(_ path: String) -> String? {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    else {
      return nil
    }
    defer { try? file.close() }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while let count = try? buffer.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0 {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
