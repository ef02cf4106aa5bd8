import CTraceFormat
import TraceReader

/// Encodes the event stream of one chunk.
///
/// The counterpart of the reader's decoder, written separately from the format's text so that the
/// two can be tested against each other.
public struct EventEncoder: Sendable {
  /// The encoded events.
  public private(set) var writer = ByteWriter()
  /// The running time.
  public private(set) var time: UInt64
  private var address: UInt64 = 0
  private var stack: UInt32 = 0

  /// Creates an encoder for a chunk with a base time.
  public init(baseTime: UInt64) {
    time = baseTime
  }

  /// Appends an event; `thread` is used by ``Operation/thread`` alone.
  public mutating func append(_ event: Event) {
    let delta = event.address.rawValue &- address
    let isFine = delta & 15 != 0
    let hasAddress =
      event.kind != .control || [.reallocBegin, .reallocEnd].contains(event.operation)
    let tag = event.operation.rawValue | (hasAddress && isFine ? UInt8(MT_TAG_FINE) : 0)
    writer.write(tag)
    writer.writeVarInt(event.time.rawValue &- time)
    time = event.time.rawValue
    switch event.operation {
    case .reallocBegin:
      writeAddress(event.address.rawValue)
      writeStack(event.stack)
    case .reallocEnd:
      writeAddress(event.address.rawValue)
      writer.writeVarInt(event.size)
    case .reallocFail, .reallocLeft:
      writer.writeVarInt(event.size)
    case .failed:
      writeStack(event.stack)
      writer.writeVarInt(event.size)
      writer.writeVarInt(UInt64(event.function.rawValue))
    case .thread:
      writer.writeVarInt(UInt64(event.thread.rawValue))
    default:
      writeAddress(event.address.rawValue)
      writeStack(event.stack)
      if event.kind == .allocation || event.operation.hasSize { writer.writeVarInt(event.size) }
      if event.operation.hasAlignment { writer.writeVarInt(event.alignment) }
    }
  }

  private mutating func writeAddress(_ new: UInt64) {
    let delta = new &- address
    // In units of 16 bytes the number keeps its sign.
    let units = UInt64(bitPattern: Int64(bitPattern: delta) >> 4)
    writer.writeZigzag(delta & 15 != 0 ? delta : units)
    address = new
  }

  private mutating func writeStack(_ new: StackID) {
    writer.writeZigzag(UInt64(bitPattern: Int64(new.rawValue) - Int64(stack)))
    stack = new.rawValue
  }
}
