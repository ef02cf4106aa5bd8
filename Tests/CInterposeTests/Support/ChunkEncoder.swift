import CInterpose
import CTraceFormat
import TraceReader
import TraceTestSupport

/// The recorder's writer, on a buffer of its own.
final class ChunkEncoder {
  private let capacity = 4 << 20
  private let buffer: UnsafeMutablePointer<UInt8>
  let writer: UnsafeMutablePointer<mt_event_writer>
  private let baseTime: UInt64
  private var markedAt = 0

  init(baseTime: UInt64) {
    self.baseTime = baseTime
    buffer = .allocate(capacity: capacity)
    buffer.initialize(repeating: 0, count: capacity)
    writer = .allocate(capacity: 1)
    writer.initialize(to: mt_event_writer())
    writer.pointee.cursor = buffer
    writer.pointee.limit = buffer + capacity - 2 * Int(MT_EVENT_MAX_LENGTH)
    writer.pointee.time = baseTime
    writer.pointee.thread = 1
  }

  deinit {
    buffer.deallocate()
    writer.deallocate()
  }

  /// Of the last event that had one.
  var time: UInt64 { writer.pointee.time }
  private var count: Int { writer.pointee.cursor - buffer }

  /// What has been written.
  var bytes: [UInt8] { Array(UnsafeBufferPointer(start: buffer, count: count)) }

  func mark() { markedAt = count }
  var bytesSinceMark: Int { count - markedAt }

  func append(_ event: Event, isExact: Bool) {
    precondition(writer.pointee.cursor < writer.pointee.limit)
    let stamp = mt_stamp(time: event.time.rawValue, is_exact: isExact)
    let (address, stack) = (event.address.rawValue, event.stack.rawValue)
    switch event.operation {
    case .reallocEnd, .reallocFail, .reallocLeft:
      mt_event_realloc_end(writer, stamp, event.operation.rawValue, address, event.size)
    case .failed: mt_event_failed(writer, stamp, event.function.rawValue, stack, event.size)
    case _ where event.kind == .allocation:
      mt_event_allocation(
        writer, stamp, event.operation.rawValue, address, stack, event.size, event.alignment)
    default:
      mt_event_deallocation(
        writer, stamp, event.operation.rawValue, address, stack, event.size, event.alignment)
    }
  }

  func abandon(_ body: (UnsafeMutablePointer<mt_event_writer>) -> Void) {
    body(writer)
    mt_event_writer_repair(writer)
  }

  func handOn(to thread: UInt32, time: UInt64) {
    mt_event_thread(writer, time, thread)
  }

  /// What the reader makes of it.
  func events() throws -> [Event] {
    var trace = TraceBuilder()
    trace.eventChunkLength = 8 << 20
    trace.appendChunk(
      bytes, encoding: MT_ENCODING_PREDICTED.rawValue, baseTime: baseTime)
    let file = try trace.write()
    return try withExtendedLifetime(file) {
      var events: [Event] = []
      try Trace(path: file.path).forEachEvent { _, event in
        events.append(event)
        return true
      }
      return events
    }
  }
}
