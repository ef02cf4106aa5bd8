import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Where the products of this build lie, for tests that run them.
public enum BuiltProducts {
  /// The build folder, which the test runner lies in itself.
  public static var directory: FilePath {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard length > 0 else { return ".build/debug" }
    return FilePath(platformString: buffer).removingLastComponent()
  }

  /// The command line tool.
  public static var memtrace: FilePath { directory.appending("memtrace") }

  /// The recorder.
  public static var library: FilePath {
    directory.appending("memtrace_memtrace.resources/libmemtrace.so")
  }
}
