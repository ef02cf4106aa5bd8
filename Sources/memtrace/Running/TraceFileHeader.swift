import CTraceFormat
import SystemPackage
import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// The fixed header of a trace, as the launcher needs it: whose trace it is, and how it ended.
///
/// Reports open whole traces; this looks at the first 4096 bytes only, so that the traces of a
/// thousand processes are listed at once.
struct TraceFileHeader {
  private(set) var fields: mt_file_header

  /// The header of a file, or `nil` when it is no trace that this version can read.
  init?(readingFrom path: FilePath) {
    guard let bytes = try? TraceHeader.bytes(ofFileAt: path),
      bytes.count == MemoryLayout<mt_file_header>.size
    else { return nil }
    let fields = bytes.withUnsafeBytes { $0.loadUnaligned(as: mt_file_header.self) }
    guard
      withUnsafeBytes(of: fields.magic, { $0.elementsEqual(MT_FILE_MAGIC.utf8) }),
      mt_format_is_known(fields.major) != 0, fields.byte_order == MT_BYTE_ORDER_MARK
    else { return nil }
    self.fields = fields
  }

  /// Whether a file begins as traces do: also one that is cut, or that another version wrote.
  static func isTrace(_ path: FilePath) -> Bool {
    let bytes = try? TraceHeader.bytes(ofFileAt: path)
    return bytes?.starts(with: MT_FILE_MAGIC.utf8) == true
  }

  var pid: pid_t { pid_t(truncatingIfNeeded: fields.pid) }

  /// What names the recording of this process: copies and the packed form of a trace share it.
  var traceID: [UInt8] { withUnsafeBytes(of: fields.trace_id, Array.init) }

  var sessionID: SessionID { SessionID(bytes: withUnsafeBytes(of: fields.session_id, Array.init)) }

  /// Whether the process has not written how it ended: it was killed, or it runs still.
  var hasNoEnding: Bool { fields.end_kind == MT_END_NONE.rawValue }

  /// A coverage counter.
  func counter(_ counter: mt_counter) -> UInt64 {
    let index = Int(counter.rawValue)
    guard index < Int(MT_COUNTER_SLOTS) else { return 0 }
    return withUnsafeBytes(of: fields.counters) {
      $0.loadUnaligned(fromByteOffset: index * MemoryLayout<UInt64>.size, as: UInt64.self)
    }
  }

  /// Writes into a trace how and when its process ended, if the process could not do so itself.
  ///
  /// A killed process cannot; only its parent knows the signal, and how long it ran after its last
  /// event.
  static func write(_ ending: ProcessEnding, ofProcess pid: pid_t, to path: FilePath) {
    guard let header = TraceFileHeader(readingFrom: path), header.pid == pid, header.hasNoEnding,
      let file = try? FileDescriptor.open(path, .readWrite, options: .closeOnExec)
    else { return }
    defer { try? file.close() }
    // end_kind, end_status and end_ticks lie next to each other.
    let offset = MemoryLayout<mt_file_header>.offset(of: \.end_kind) ?? 192
    let (kind, status): (mt_end_kind, Int32) =
      switch ending {
      case .exited(let status): (MT_END_UEXIT, status)
      case .killed(let signal): (MT_END_SIGNAL, signal)
      }
    let ticks =
      withUnsafePointer(to: header.fields) { mt_live_event_time($0) }
      << min(header.fields.tick_shift, 63)
    let words = [
      kind.rawValue, UInt32(bitPattern: status), UInt32(truncatingIfNeeded: ticks),
      UInt32(truncatingIfNeeded: ticks >> 32),
    ].map(\.littleEndian)
    words.withUnsafeBytes { _ = try? file.writeAll(toAbsoluteOffset: Int64(offset), $0) }
  }
}
