#if canImport(Glibc)
  import Glibc
#endif

/// Where `/proc` tells of the memory of a process.
public enum ProcessFolder {
  /// The folder of a process, or of one of its threads.
  ///
  /// Of a first thread that has ended before others the kernel tells neither mappings nor variables
  /// nor a root.
  ///
  /// - Parameter pid: The process ID.
  /// - Returns: A path, also where there is no such process.
  public static func path(of pid: some CustomStringConvertible) -> String {
    let process = "/proc/\(pid)"
    if hasMemory(process) { return process }
    return names(in: "\(process)/task").map { "\(process)/task/\($0)" }.first(where: hasMemory)
      ?? process
  }

  /// The names in a folder of `/proc` that are numbers: of processes or of threads.
  ///
  /// - Parameter path: The path of the folder.
  /// - Returns: Its entries in the kernel's order; none where it cannot be read.
  static func names(in path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if UInt32(name) != nil { found.append(name) }
    }
    return found
  }

  /// Who has given back its memory has no root either.
  private static func hasMemory(_ folder: String) -> Bool {
    var status = stat()
    return stat("\(folder)/root/.", &status) == 0 || errno != ENOENT
  }
}
