import LeakAnalysis
import TraceReader

/// Leaked blocks of one kind: a row of the table.
public struct LeakRow: Sendable, Hashable, Encodable {
  /// What the blocks are; by function, image or thread the name of that.
  public var name: String
  /// What is known of the type; nil where blocks are told apart by size only.
  public var type: BlockTypeSummary?
  /// How many blocks.
  public var count: UInt64 = 0
  /// Their requested bytes.
  public var bytes: UInt64 = 0
  /// Blocks of these that nothing points to, or that are part of a root cycle.
  public var rootCount: UInt64 = 0
  /// Blocks in the trees of these, the heads of trees included; nil where trees are not told apart.
  public var treeCount: UInt64?
  /// Their requested bytes.
  public var treeBytes: UInt64?
  /// The address of the oldest one.
  public var address: UInt64
  /// Its requested bytes.
  public var size: UInt64
  /// When it was allocated, nanoseconds since the recording began.
  public var timeNanoseconds: UInt64
  /// The ID of the stack that allocated it.
  public var stack: UInt32
  /// The responsible frame; nil without a stack.
  public var responsible: ReportFrame?
  /// How many more than in the trace it is compared with; nil when it is compared with none.
  public var newCount: UInt64?
  /// The requested bytes of these.
  public var newBytes: UInt64?
  /// What points to the oldest one; only of possible leaks.
  public var heldBy: String?

  enum CodingKeys: String, CodingKey {
    case name, type, count, bytes, rootCount, treeCount, treeBytes
    case address, size, timeNanoseconds, stack, responsible, newCount, newBytes, heldBy
  }

  /// Writes the row; the address as hexadecimal text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(type, forKey: .type)
    try container.encode(count, forKey: .count)
    try container.encode(bytes, forKey: .bytes)
    try container.encode(rootCount, forKey: .rootCount)
    try container.encodeIfPresent(treeCount, forKey: .treeCount)
    try container.encodeIfPresent(treeBytes, forKey: .treeBytes)
    try container.encode(HexText.of(address), forKey: .address)
    try container.encode(size, forKey: .size)
    try container.encode(timeNanoseconds, forKey: .timeNanoseconds)
    try container.encode(stack, forKey: .stack)
    try container.encodeIfPresent(responsible, forKey: .responsible)
    try container.encodeIfPresent(newCount, forKey: .newCount)
    try container.encodeIfPresent(newBytes, forKey: .newBytes)
    try container.encodeIfPresent(heldBy, forKey: .heldBy)
  }
}

extension ByteStyle {
  /// The bytes of trees; nothing for blocks that are the heads of none.
  func tree(_ bytes: UInt64?) -> String { bytes.map { $0 > 0 ? format($0) : "" } ?? "" }
}
