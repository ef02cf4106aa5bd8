import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A directory for the files of one test, removed with all it holds when it goes out of use.
public final class ScratchDirectory: Sendable {
  /// Its absolute path.
  public let path: FilePath

  /// Creates it in `/tmp`.
  public init() throws {
    var template = Array("/tmp/memtrace-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
    path = FilePath(platformString: template)
  }

  deinit {
    // The tree may hold other directories; rm knows how to take it down.
    _ = try? ProcessRun.run(["/bin/rm", "-rf", "--", path.string])
  }

  /// The names in it, sorted.
  public var entries: [String] {
    guard let directory = path.withPlatformString({ opendir($0) }) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
