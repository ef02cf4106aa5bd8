import CTraceFormat
import TraceReader
import TraceTestSupport

/// Random bytes of the encoding that says only what is not expected, of all its forms.
///
/// Keeps the tables of the format itself, to know which expectations there are.
struct PredictedStream: ~Copyable {
  private let tables = UnsafeMutablePointer<mt_predictor>.allocate(capacity: 1)
  private var random: SeededGenerator
  private var writer = ByteWriter()
  private var newestSize: UInt64 = 0

  private static let allocations = blockOperations.filter {
    $0.kind == .allocation && !$0.isOfAnnounced
  }
  private static let deallocations =
    blockOperations.filter { $0.kind == .deallocation && !$0.isOfAnnounced } + [.reallocBegin]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    tables.initialize(to: mt_predictor())
  }

  deinit {
    tables.deallocate()
  }

  /// The bytes of some events.
  mutating func events(_ count: Int) -> [UInt8] {
    for _ in 0..<count {
      if number(40) == 0 { control() } else { event() }
    }
    return writer.bytes
  }

  private mutating func number(_ limit: UInt64) -> UInt64 { .random(in: 0..<limit, using: &random) }

  private mutating func control() {
    let kind = [MT_CONTROL_THREAD, MT_CONTROL_FAILED, MT_CONTROL_RESET][Int(number(3))]
    writer.write(UInt8(kind.rawValue << UInt32(MT_TAG_CONTROL_SHIFT)))
    switch kind {
    case MT_CONTROL_THREAD: writer.writeVarInt(number(4))
    case MT_CONTROL_FAILED:
      writer.writeVarInt(number(9))
      writer.writeVarInt(random.next())
      writer.write(UInt8(MT_OP_CALLOC.rawValue))
    default:
      tables.initialize(to: mt_predictor())
      writer.writeVarInt(2000 + number(100))
    }
  }

  private mutating func event() {
    let (form, name) = site()
    let known = mt_learn_site(tables, name).unsafelyUnwrapped
    let isKnown = known.pointee.operation != 0
    var tag = form | (number(3) == 0 ? UInt32(MT_TAG_TIME) : 0)
    var fields = ByteWriter()
    if tag & UInt32(MT_TAG_TIME) != 0 { fields.writeVarInt(number(300)) }
    if form == MT_SITE_WRITTEN.rawValue {
      fields.write(UInt8(0))
      fields.writeZigzag(UInt64(name) &- UInt64(tables.pointee.highest))
      mt_learn_full_site(tables, name)
    }
    let size = isKnown ? UInt32(number(4)) : MT_SIZE_OPERATION.rawValue
    tag |= size << UInt32(MT_TAG_SIZE_SHIFT)
    if size == MT_SIZE_OPERATION.rawValue {
      append(number(2) == 0 ? Self.allocations : Self.deallocations, to: &fields, known)
    } else if size == MT_SIZE_WRITTEN.rawValue {
      fields.writeVarInt(number(3000))
    }
    let isAllocation = Operation(rawValue: known.pointee.operation).kind == .allocation
    let place = UInt32(number(isAllocation ? 6 : 7))
    tag |= place << UInt32(MT_TAG_ADDRESS_SHIFT)
    append(place: place, isAllocation: isAllocation, to: &fields)
    writer.write(UInt8(truncatingIfNeeded: tag))
    writer.write(fields.bytes)
  }

  /// How the site is said, and which it is.
  private mutating func site() -> (UInt32, mt_site_name) {
    let afterPair = mt_site_after_pair(tables)
    let afterOne = mt_site_after_one(tables)
    switch number(3) {
    case 0 where afterPair != 0: return (MT_SITE_AFTER_PAIR.rawValue, afterPair)
    case 1 where afterOne != 0: return (MT_SITE_AFTER_ONE.rawValue, afterOne)
    default: return (MT_SITE_WRITTEN.rawValue, mt_site_name(number(9) * 2))
    }
  }

  private mutating func append(
    _ operations: [Operation], to fields: inout ByteWriter, _ site: UnsafeMutablePointer<mt_site>
  ) {
    let operation = operations.randomElement(using: &random) ?? .malloc
    let alignment: UInt64 = number(4) == 0 ? 48 : 64
    fields.write(operation.rawValue)
    if operation.kind == .allocation || operation.hasSize { fields.writeVarInt(number(3000)) }
    if operation.hasAlignment { fields.writeVarInt(alignment) }
    mt_learn_operation(site, operation.rawValue, alignment)
  }

  private mutating func append(place: UInt32, isAllocation: Bool, to fields: inout ByteWriter) {
    switch place {
    case MT_ADDRESS_DISTANCE_16.rawValue, MT_ADDRESS_DISTANCE.rawValue:
      fields.writeZigzag(number(2000) &- 1000)
    case MT_NEW_FREED.rawValue where isAllocation: fields.write(UInt8(number(16)))
    case MT_FREED_AGE.rawValue where !isAllocation: fields.writeVarInt(number(1100))
    default: break
    }
  }
}

extension SampleTraces {
  /// Events and stacks of the predicted encodings, and a snapshot of some pages.
  static func predicted(
    seed: UInt64, _ operations: [Operation] = blockOperations
  ) -> TraceBuilder {
    var random = SeededGenerator(seed: seed)
    var trace = small(operations)
    trace.appendNodeChunk(nodes(&random), firstID: 1000)
    for chunk in UInt64(0)..<6 {
      var stream = PredictedStream(seed: seed * 100 + chunk)
      trace.appendChunk(
        stream.events(150), encoding: MT_ENCODING_PREDICTED.rawValue,
        thread: UInt32(chunk % 3 + 1), baseTime: 1100 + chunk * 70)
    }
    var snapshot = SnapshotBuilder(time: 1500)
    snapshot.region(0x6000_0000..<0x6001_0000, path: "[heap]")
    snapshot.thread(2, tid: 4712, sp: 0x6000_f000, registers: [0x6000_0010, .max, 0])
    for _ in 0..<40 {
      let words = (0..<Int.random(in: 1..<20, using: &random)).map { _ in
        random.next() >> UInt64.random(in: 0..<64, using: &random)
      }
      snapshot.words(at: 0x6000_0000 + .random(in: 0..<0x1f00, using: &random) * 8, words)
    }
    trace.snapshot(snapshot)
    return trace
  }

  private static func nodes(_ random: inout SeededGenerator) -> [UInt8] {
    var writer = ByteWriter()
    for index in UInt64(0)..<200 {
      let parent = index == 0 ? MT_PARENT_NONE.rawValue : .random(in: 0..<4, using: &random)
      let pc = index == 0 ? MT_PC_DISTANCE.rawValue : .random(in: 0..<3, using: &random)
      let hasFlags = Int.random(in: 0..<10, using: &random) == 0
      writer.write(
        UInt8(
          MT_NODE_TAG | parent << UInt32(MT_NODE_PARENT_SHIFT) | pc << UInt32(MT_NODE_PC_SHIFT)
            | (hasFlags ? MT_NODE_HAS_FLAGS : 0)))
      if parent == MT_PARENT_DISTANCE.rawValue {
        writer.writeVarInt(.random(in: 1...max(index, 1), using: &random))
      }
      if pc == MT_PC_KNOWN.rawValue {
        let known = UInt8.random(in: 0..<32, using: &random)
        writer.write(known)
        if UInt32(known) & MT_PC_RECENT != 0 {
          writer.write(UInt8.random(in: 0 ... .max, using: &random))
        }
      }
      if pc == MT_PC_DISTANCE.rawValue { writer.writeZigzag(.random(in: 0..<9999, using: &random)) }
      if hasFlags { writer.write(UInt8.random(in: 0..<4, using: &random)) }
    }
    return writer.bytes
  }
}
