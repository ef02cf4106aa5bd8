import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Where the products of this build lie, for tests that run them.
public enum BuiltProducts {
  /// The build folder, which the test runner lies in itself.
  ///
  /// Where `LD_PRELOAD`, or a line of a shell, would not take its path for one, it is a link to the folder that goes
  /// when the tests end.
  public static let directory: FilePath = {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard length > 0 else { return ".build/debug" }
    let folder = FilePath(platformString: buffer).removingLastComponent()
    return isPlain(folder) ? folder : linked(folder) ?? folder
  }()

  /// The command line tool.
  public static var memtrace: FilePath { directory.appending("memtrace") }

  /// The recorder.
  public static var library: FilePath {
    directory.appending("memtrace_memtrace.resources/libmemtrace.so")
  }

  private static func isPlain(_ path: FilePath) -> Bool {
    path.string.utf8.allSatisfy { byte in
      let scalar = Unicode.Scalar(byte)
      return byte >= 0x80 || scalar.properties.isAlphabetic
        || "0123456789/._-+@,=".unicodeScalars.contains(scalar)
    }
  }

  private static let link = "/tmp/memtrace-products-\(getpid())"

  private static func linked(_ folder: FilePath) -> FilePath? {
    guard folder.withPlatformString({ symlink($0, link) }) == 0 else { return nil }
    atexit { unlink(BuiltProducts.link) }
    return FilePath(link)
  }
}
