/// A file that a process has mapped as recorders have their trace: from its beginning, shared and writable.
public struct SharedMapping: Sendable, Hashable {
  /// The number of the file in its file system.
  public var inode: UInt64
  /// The path as the process sees it; empty for what has none.
  public var path: String

  /// Reads what `/proc/PID/maps` says of a process, see proc_pid_maps(5).
  ///
  /// - Parameter maps: The whole text.
  /// - Returns: Those among its mappings, in their order; lines of another form are left out.
  public static func all(inMaps maps: String) -> [SharedMapping] {
    maps.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ", maxSplits: 5)
      guard fields.count > 4, fields[1] == "rw-s", fields[2].allSatisfy({ $0 == "0" }),
        let inode = UInt64(fields[4])
      else { return nil }
      let path = fields.count > 5 ? fields[5].drop { $0 == " " } : ""
      return SharedMapping(inode: inode, path: String(path))
    }
  }
}
