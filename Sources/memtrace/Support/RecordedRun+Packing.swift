import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

extension RecordedRun {
  /// Packs the traces of a recording and removes the plain ones.
  ///
  /// A trace that cannot be packed stays as it is, and so does one whose process still runs: it
  /// goes on writing. Both are said on standard error.
  ///
  /// - Parameter directory: Paths are shown relative to it where they lie in it.
  mutating func pack(relativeTo directory: FilePath) {
    for position in traces.indices {
      let trace = traces[position]
      let name = trace.path.shown(relativeTo: directory)
      if trace.header.pid != pid, Self.isRunning(trace.header.pid) {
        Diagnostics.write("\(name) is not packed: its process still runs")
        continue
      }
      let target = OutputNaming.packed(trace.path)
      do throws(CommandFailure) {
        traces[position].packed = try PackSession().pack(
          trace.path, shownAs: name,
          to: TraceTarget(path: target, name: target.shown(relativeTo: directory)))
        traces[position].path = target
        trace.path.remove()
      } catch {
        Diagnostics.write("\(name) is not packed and stays as it is: \(error)")
      }
    }
  }

  /// Whether a process exists that can still write: not one that only waits for its parent.
  private static func isRunning(_ pid: pid_t) -> Bool {
    guard kill(pid, 0) == 0 || errno == EPERM else { return false }
    guard let file = try? FileDescriptor.open("/proc/\(pid)/stat", .readOnly, options: .closeOnExec)
    else { return false }
    defer { try? file.close() }
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = (try? buffer.withUnsafeMutableBytes { try file.read(into: $0) }) ?? 0
    // `PID (NAME) STATE …`, where the name may hold parentheses, too.
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return false }
    return text[end...].dropFirst(2).first.map { $0 != "Z" && $0 != "X" } ?? false
  }
}

extension FilePath {
  /// The path to show to the user: relative where it lies in the directory.
  func shown(relativeTo directory: FilePath) -> String {
    var path = self
    _ = path.removePrefix(directory)
    return path.string
  }
}
