import CTraceFormat
import TraceReader

/// Encodes reference count events with every field written: no prediction is made.
struct RefcountEncoder: Sendable {
  private(set) var writer = ByteWriter()
  let baseTime: UInt64
  private var time: UInt64
  private var object: UInt64 = 0
  private var highest: UInt32 = 0

  init(baseTime: UInt64) {
    self.baseTime = baseTime
    time = baseTime
  }

  mutating func append(_ event: RefcountEvent) {
    var tag = MT_SITE_WRITTEN.rawValue | MT_REFCOUNT_CALL_WRITTEN | MT_REFCOUNT_COUNT_WRITTEN
    tag |= MT_OBJECT_DISTANCE.rawValue << UInt32(MT_REFCOUNT_OBJECT_SHIFT)
    writer.write(UInt8(tag))
    writer.writeVarInt(event.time.rawValue &- time)
    writer.write(UInt8(0))
    writer.writeZigzag(UInt64(bitPattern: Int64(event.stack.rawValue) - Int64(highest)))
    writer.write(event.call.rawValue)
    if mt_refcount_has_amount(event.call.rawValue) != 0 { writer.writeVarInt(UInt64(event.amount)) }
    let distance = Int64(bitPattern: event.object.rawValue &- object) >> 3
    writer.writeZigzag(UInt64(bitPattern: distance))
    writer.writeVarInt(event.count)
    (time, object, highest) = (event.time.rawValue, event.object.rawValue, event.stack.rawValue)
  }
}
