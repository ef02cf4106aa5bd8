import CTraceFormat
import Synchronization

/// The content of a packed file, read by position through the frames that hold it.
///
/// The frames used last stay decompressed. Frames are decompressed outside the lock, so that
/// several threads can read.
final class PackedFrames: Sendable {
  private let file: DiskFile
  private let table: SeekTable
  private let cache = Mutex(FrameCache())

  /// Opens a file as a packed one.
  ///
  /// - Returns: nil when it is not: it does not begin with a frame.
  /// - Throws: `.corrupt` when it is compressed, but not so that it can be read by position.
  init?(file: DiskFile) throws(TraceError) {
    guard try ZstdFrameHeader.begins(file) else { return nil }
    self.file = file
    if let table = try SeekTable(endOf: file) {
      self.table = table
    } else {
      table = try FrameScan(of: file).table
    }
  }

  /// Bytes of the plain trace.
  var plainSize: UInt64 { table.plainSize }

  /// Where the content of the last frame begins.
  var startOfLastFrame: UInt64 { table.frames.last?.offset ?? 0 }

  /// As ``TraceFile/read(at:into:)``.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(TraceError) -> Int
  {
    var done = 0
    while done < buffer.count {
      let position = offset &+ UInt64(done)
      guard position >= offset, position < plainSize else { break }
      do throws(TraceError) {
        let index = try frame(at: position)
        let content = try content(of: index)
        let start = Int(position &- table.frames[index].offset)
        let count = min(buffer.count - done, content.count - start)
        content.withUnsafeBytes { bytes in
          UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
        done += count
      } catch {
        // What was read so far is good; the next call meets the damage first.
        if done > 0, error.status == .corrupt { break }
        throw error
      }
    }
    return done
  }

  /// Where the damaged frame, or the gap, that holds a byte ends.
  func endOfDamage(at offset: UInt64) -> UInt64 {
    if let index = table.frame(at: offset) { return table.frames[index].end }
    return table.startOfFrame(after: offset) ?? plainSize
  }

  private func frame(at offset: UInt64) throws(TraceError) -> Int {
    guard let index = table.frame(at: offset) else {
      throw TraceError(
        .corrupt, at: offset, "a part of the packed file is damaged", path: file.path.string)
    }
    return index
  }

  private func content(of index: Int) throws(TraceError) -> [UInt8] {
    if let known = cache.withLock({ $0.content(of: index) }) { return known }
    let frame = table.frames[index]
    let bytes = try file.bytes(at: frame.position, count: Int(frame.length))
    guard bytes.count == Int(frame.length),
      let content = ZstdDecompressor.content(of: bytes, size: Int(frame.size))
        ?? doubtfulHeader(frame, bytes)
    else {
      throw TraceError(
        .corrupt, at: frame.offset, "the packed frame at byte \(frame.position) is damaged",
        path: file.path.string)
    }
    cache.withLock { $0.insert(content, of: index) }
    return content
  }

  /// The file header although its checksum is wrong: without it nothing could be read.
  private func doubtfulHeader(_ frame: SeekTable.Frame, _ bytes: [UInt8]) -> [UInt8]? {
    guard frame.offset == 0, UInt64(frame.size) == UInt64(MT_FILE_HEADER_SIZE),
      let content = ZstdDecompressor.uncheckedContent(of: bytes, size: Int(frame.size))
    else { return nil }
    cache.withLock { $0.isHeaderDamaged = true }
    return content
  }

  /// Whether the checksum of the file header, if that was read, is wrong.
  var isHeaderDamaged: Bool { cache.withLock { $0.isHeaderDamaged } }
}

/// The frames that were used last.
private struct FrameCache {
  /// See ``PackedFrames/isHeaderDamaged``.
  var isHeaderDamaged = false

  private struct Entry {
    var index: Int
    var content: [UInt8]
  }

  /// The one used last is last.
  private var entries: [Entry] = []
  private var bytes = 0

  /// Many threads' chunks are read in turn; those that are small share frames.
  private static let greatestBytes = 16 << 20

  mutating func content(of index: Int) -> [UInt8]? {
    guard let position = entries.lastIndex(where: { $0.index == index }) else { return nil }
    if position != entries.count - 1 { entries.append(entries.remove(at: position)) }
    return entries.last?.content
  }

  /// Adds a frame and drops those that were not used for longest; one stays, however large.
  mutating func insert(_ content: [UInt8], of index: Int) {
    guard !entries.contains(where: { $0.index == index }) else { return }
    entries.append(Entry(index: index, content: content))
    bytes += content.count
    while bytes > Self.greatestBytes, entries.count > 1 {
      bytes -= entries.removeFirst().content.count
    }
  }
}
