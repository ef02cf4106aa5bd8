/// A message in the wire format of protocol buffers, written field by field.
///
/// Only what a profile needs: numbers, texts and messages; no field is read. Source of the format:
/// <https://protobuf.dev/programming-guides/encoding/>.
struct ProtobufMessage {
  /// The fields written so far.
  private(set) var bytes: [UInt8] = []

  private enum WireType: UInt64 {
    case varint = 0
    case lengthDelimited = 2
  }

  /// Adds a number; zero is what is not there.
  mutating func add(_ field: Int, _ value: UInt64) {
    guard value != 0 else { return }
    addTag(field, .varint)
    addVarint(value)
  }

  /// Adds a flag.
  mutating func add(_ field: Int, _ value: Bool) {
    add(field, value ? 1 : 0 as UInt64)
  }

  /// Adds a list of numbers, zeros too.
  mutating func add(_ field: Int, packed values: [UInt64]) {
    guard !values.isEmpty else { return }
    var list = ProtobufMessage()
    values.forEach { list.addVarint($0) }
    add(field, list)
  }

  /// Adds a text, an empty one too: lists of texts have these.
  mutating func add(_ field: Int, _ text: String) {
    addTag(field, .lengthDelimited)
    addVarint(UInt64(text.utf8.count))
    bytes += text.utf8
  }

  /// Adds a message.
  mutating func add(_ field: Int, _ message: ProtobufMessage) {
    addTag(field, .lengthDelimited)
    addVarint(UInt64(message.bytes.count))
    bytes += message.bytes
  }

  private mutating func addTag(_ field: Int, _ type: WireType) {
    addVarint(UInt64(field) << 3 | type.rawValue)
  }

  private mutating func addVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}
