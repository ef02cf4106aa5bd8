import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// The bytes of a file as it is on the disk, read by position.
///
/// Never mapped: a file that shrinks while it is being read would kill the reader with SIGBUS.
final class DiskFile: ByteSource, Sendable {
  let path: FilePath
  let size: UInt64
  /// Its number in its file system.
  let inode: UInt64
  private let descriptor: FileDescriptor

  init(path: FilePath) throws(TraceError) {
    self.path = path
    try Self.checkIsFile(path)
    do {
      descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch {
      throw Self.cannotOpen(path, error)
    }
    var status = stat()
    size = fstat(descriptor.rawValue, &status) == 0 ? UInt64(clamping: status.st_size) : 0
    inode = UInt64(status.st_ino)
    // From here on deinit closes. Another file may have taken the place.
    try Self.check(mode: status.st_mode, of: path)
  }

  /// Checks what is at a path before it is opened.
  ///
  /// Opening is not without effect: whoever waits for a reader of a pipe goes on, and is killed by
  /// SIGPIPE when the pipe turns out to be no trace; a device may start to work.
  private static func checkIsFile(_ path: FilePath) throws(TraceError) {
    var status = stat()
    guard path.withPlatformString({ stat($0, &status) }) == 0 else {
      throw cannotOpen(path, Errno(rawValue: errno))
    }
    try check(mode: status.st_mode, of: path)
  }

  private static func check(mode: mode_t, of path: FilePath) throws(TraceError) {
    switch mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw TraceError(.io, "is a directory, not a trace", path: path.string)
    default:
      throw TraceError(
        .io, "is a pipe or a device, not a file; write the trace into a file first",
        path: path.string)
    }
  }

  private static func cannotOpen(_ path: FilePath, _ error: any Error) -> TraceError {
    TraceError(
      .io, "cannot be opened: \(error)", path: path.isEmpty ? "''" : path.string)
  }

  deinit {
    try? descriptor.close()
  }

  /// Where the hole ends that a position is in: a file can claim any size without having it.
  ///
  /// - Returns: The position itself where there is none; the size of the file where nothing follows.
  func endOfHole(at offset: UInt64) -> UInt64 {
    let seekData: Int32 = 3  // SEEK_DATA of lseek(2)
    guard let position = off_t(exactly: offset), offset < size else { return offset }
    let found = lseek(descriptor.rawValue, position, seekData)
    if found < 0 { return errno == ENXIO ? size : offset }
    return max(offset, min(UInt64(found), size))
  }

  /// Fills a buffer from a position, as far as the file goes.
  ///
  /// - Returns: The number of bytes read; less than asked for only at the end of the file.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TraceError) -> Int
  {
    var done = 0
    while done < buffer.count {
      guard let position = Int64(exactly: offset &+ UInt64(done)) else { break }
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      do {
        let count = try descriptor.read(fromAbsoluteOffset: position, into: rest)
        guard count > 0 else { break }
        done += count
      } catch {
        throw TraceError(.io, at: offset, "cannot be read: \(error)", path: path.string)
      }
    }
    return done
  }
}
