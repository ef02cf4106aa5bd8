import SystemPackage
import Testing
import TraceTestSupport

/// A file system that is soon full.
enum SmallDisk {
  /// Calls `body` with a folder on a file system of its own, which only root can mount.
  static func with(size: String, _ body: (FilePath) throws -> Void) throws {
    let directory = try ScratchDirectory()
    let mount = ["/bin/mount", "-t", "tmpfs", "-o", "size=\(size)", "none", directory.path.string]
    let mounted = try ProcessRun.run(mount)
    try #require(mounted.status == 0, "\(mounted.errorText)")
    defer { _ = try? ProcessRun.run(["/bin/umount", "-l", directory.path.string]) }
    try body(directory.path)
  }
}
