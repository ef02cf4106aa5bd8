import CTraceFormat
import SystemPackage

/// Writes the plain trace of a packed one: the bytes that `zstd -d` gives.
public struct TraceUnpacker {
  private let trace: Trace

  private static let blockSize = 1 << 20

  /// Prepares to unpack an opened packed trace.
  public init(_ trace: Trace) {
    self.trace = trace
  }

  /// Writes the plain trace.
  ///
  /// Damaged parts become zeros, which mean nothing in a trace.
  ///
  /// - Parameters:
  ///   - output: An empty file, open for writing. Of no use if this throws.
  ///   - progress: Called with the bytes of the trace that are done, and all of them.
  /// - Returns: How many bytes are lost to damage or because the file was cut, or doubtful.
  /// - Throws: `.io` when reading or writing fails.
  public func write(
    to output: FileDescriptor, progress: (UInt64, UInt64) -> Void = { _, _ in }
  ) throws(TraceError) -> UInt64 {
    let file = trace.file
    var (offset, lost): (UInt64, UInt64) = (0, 0)
    while offset < file.size {
      var bytes: [UInt8] = []
      do throws(TraceError) {
        bytes = try file.bytes(at: offset, count: Self.blockSize)
        guard !bytes.isEmpty else { break }
      } catch {
        guard error.status == .corrupt else { throw error }
        let end = file.endOfDamage(at: offset)
        lost &+= end &- offset
        offset = end
        continue
      }
      try output.write(bytes, at: offset)
      offset &+= UInt64(bytes.count)
      progress(offset, file.size)
    }
    lost &+= lostBesidesDamage
    // Also where the end is damaged, the file gets its whole length.
    do {
      try output.resize(to: Int64(clamping: file.size))
    } catch {
      throw TraceError(.io, "cannot be written: \(error)")
    }
    return lost
  }

  /// What is lost where no damage can be met: the header, which was read all the same, or else what
  /// it says should follow, of a file that was cut.
  private var lostBesidesDamage: UInt64 {
    trace.file.isHeaderDamaged ? UInt64(MT_FILE_HEADER_SIZE) : trace.coverage.missingBytes
  }
}
