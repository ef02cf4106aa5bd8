import CTraceFormat
import SystemPackage

/// Until when a trace holds all events while its process still writes it.
///
/// Chunks are read one after the other, and the process does not wait: what a thread frees is in a
/// chunk that is read late, while the allocation by another thread came to one that was read
/// before. But what was recorded before the file was opened is all there.
enum OngoingRecording {
  /// The moment up to which a trace can be relied on that will be opened next.
  ///
  /// - Parameter path: The trace.
  /// - Returns: The event time now; nil where no process of this machine, or none that may be looked
  ///   at, has the file mapped as recorders do.
  static func lastTime(ofTraceAt path: FilePath) -> EventTime? {
    guard let file = try? DiskFile(path: path),
      let bytes = try? file.bytes(at: 0, count: Int(MT_FILE_HEADER_SIZE)),
      let header = try? TraceHeader(decoding: bytes), isOpenEnded(header),
      WritingProcess.isThere(pid: header.pid, inode: file.inode)
    else { return nil }
    var fields = mt_file_header()
    (fields.flags, fields.tick_shift) = (header.flags.rawValue, header.tickShift)
    return EventTime(mt_live_event_time(&fields))
  }

  /// Whether more may come, as far as the header of a trace tells.
  static func isOpenEnded(_ header: TraceHeader) -> Bool {
    header.endKind == MT_END_NONE.rawValue && header.stopReason == MT_STOP_NONE.rawValue
  }
}
