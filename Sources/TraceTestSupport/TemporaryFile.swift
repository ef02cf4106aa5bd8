import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// A file with a name of its own that is removed when nothing refers to it any more.
public final class TemporaryFile: Sendable {
  /// Where the file is.
  public let path: FilePath

  /// Writes bytes into a new file in the folder for temporary files.
  public init(_ bytes: [UInt8], suffix: String = ".mtrace") throws {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    let name = "memtrace-test-\(getpid())-\(UInt64.random(in: 0 ... .max))\(suffix)"
    path = FilePath(folder).appending(name)
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .exclusiveCreate], permissions: .ownerReadWrite)
    try file.closeAfter { _ = try file.writeAll(bytes) }
  }

  deinit {
    unlink(path.string)
  }
}

extension TraceBuilder {
  /// Writes the trace into a temporary file.
  public func write() throws -> TemporaryFile {
    try TemporaryFile(bytes())
  }
}
