import SystemPackage

/// The bytes of a plain trace, read by position, whether the file is packed or not.
///
/// The one place that knows about packing: everything else sees offsets of the plain trace.
final class TraceFile: ByteSource, Sendable {
  /// Bytes of the plain trace.
  let size: UInt64
  private let disk: DiskFile
  private let frames: PackedFrames?

  /// - Throws: `.io` when the file cannot be opened, `.corrupt` when it was compressed in a way
  ///   that does not allow reading by position.
  init(path: FilePath) throws(TraceError) {
    disk = try DiskFile(path: path)
    frames = try PackedFrames(file: disk)
    size = frames?.plainSize ?? disk.size
  }

  var path: FilePath { disk.path }

  /// Bytes of the file on the disk.
  var storedSize: UInt64 { disk.size }

  var isPacked: Bool { frames != nil }

  /// Where the content of a packed file's last frame begins; 0 in a plain one.
  var startOfLastFrame: UInt64 { frames?.startOfLastFrame ?? 0 }

  /// Whether a packed file's header was read, and is not what was written.
  var isHeaderDamaged: Bool { frames?.isHeaderDamaged ?? false }

  /// Fills a buffer from a position, as far as the trace goes.
  ///
  /// - Returns: The number of bytes read; less than asked for only at the end of the trace, or
  ///   where a damaged part of a packed file begins.
  /// - Throws: `.io`, and `.corrupt` when the first byte lies in a damaged part of a packed file.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TraceError) -> Int
  {
    guard let frames else { return try disk.read(at: offset, into: buffer) }
    return try frames.read(at: offset, into: buffer)
  }

  /// Where the hole ends that a position of a plain trace is in; else the position itself.
  func endOfHole(at offset: UInt64) -> UInt64 {
    frames == nil ? disk.endOfHole(at: offset) : offset
  }

  /// Where reading can go on behind a damaged part of a packed file; the size when there is no more.
  func endOfDamage(at offset: UInt64) -> UInt64 {
    frames?.endOfDamage(at: offset) ?? size
  }
}
