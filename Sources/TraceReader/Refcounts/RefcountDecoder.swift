import CTraceFormat

/// Decodes the events of one `REFCOUNTS` chunk, which is small enough to be read as a whole.
struct RefcountDecoder: ~Copyable {
  /// The longest content of a chunk.
  static let greatestLength = 1 << 20
  /// Bytes behind a zero that one that was being written may have left there.
  static let guardLength = Int(MT_REFCOUNT_MAX_LENGTH)
  /// What is wrong where events follow a zero.
  static let zeros = "zeros where reference counts belong"

  /// Why the stream ended before the end of the chunk; nil when it did not.
  private(set) var damageReason: String?

  private let bytes: UnsafeMutableRawBufferPointer
  private let predictor: UnsafeMutablePointer<mt_refcount_predictor>
  private var position: UnsafeRawPointer
  private let end: UnsafeRawPointer
  private var time: UInt64
  private var thread: UInt32
  private var hasEnded = false

  /// Begins at the bytes behind a chunk header.
  init(_ content: some Collection<UInt8>, baseTime: UInt64, thread: UInt32) {
    // An event is decoded without looking at bounds, which are checked once behind it.
    bytes = .allocate(byteCount: content.count + Int(MT_REFCOUNT_MAX_LENGTH), alignment: 16)
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
    bytes.copyBytes(from: content)
    position = UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped)
    end = position + content.count
    predictor = .allocate(capacity: 1)
    predictor.initialize(to: mt_refcount_predictor())
    time = baseTime
    self.thread = thread
  }

  deinit {
    bytes.deallocate()
    predictor.deallocate()
  }

  /// Bytes that are left where decoding stopped.
  var unreadCount: Int { end - position }

  /// The next event; nil at the end, which may be early.
  mutating func next() -> RefcountEvent? {
    while !hasEnded, position < end {
      var at = position
      var isMalformed = false
      let tag = at.load(as: UInt8.self)
      at += 1
      if tag == 0 {
        let rest = UnsafeRawBufferPointer(start: position, count: end - position)
        if !rest.isUnused(from: Self.guardLength) { stop(Self.zeros) }
        break
      }
      let event: RefcountEvent?
      if UInt32(tag) & MT_TAG_SITE == 0 {
        event = nil
        readControl(tag, &at, &isMalformed)
      } else {
        event = readEvent(tag, &at, &isMalformed)
        if event == nil { isMalformed = true }
      }
      guard !isMalformed, at <= end else {
        stop(isMalformed ? "bytes that are no reference count event" : nil)
        return nil
      }
      position = at
      if let event { return event }
    }
    hasEnded = true
    return nil
  }

  private mutating func stop(_ reason: String?) {
    hasEnded = true
    damageReason = reason ?? "an event runs past the end of its chunk"
  }

  private mutating func readControl(
    _ tag: UInt8, _ at: inout UnsafeRawPointer, _ isMalformed: inout Bool
  ) {
    let value = VarInt.read(&at, &isMalformed)
    switch UInt32(tag) >> UInt32(MT_TAG_CONTROL_SHIFT) {
    case MT_CONTROL_THREAD.rawValue where tag & UInt8(MT_TAG_TIME) == 0:
      thread = UInt32(truncatingIfNeeded: value)
    case MT_CONTROL_RESET.rawValue where tag & UInt8(MT_TAG_TIME) == 0:
      time = value
      predictor.pointee = mt_refcount_predictor()
    default:
      isMalformed = true
    }
  }

  /// nil when a field has a value that it cannot have.
  private mutating func readEvent(
    _ tag: UInt8, _ at: inout UnsafeRawPointer, _ isMalformed: inout Bool
  ) -> RefcountEvent? {
    guard tag & 0xc0 == 0 else { return nil }
    time &+= VarInt.read(&at, &isMalformed)
    guard let stack = readStack(tag, &at, &isMalformed),
      let site = mt_refcount_learn_stack(predictor, stack)
    else { return nil }
    var (call, amount) = (site.pointee.call, site.pointee.amount)
    if UInt32(tag) & MT_REFCOUNT_CALL_WRITTEN != 0 {
      call = Self.byte(&at)
      amount = call == UInt8(MT_REFCOUNT_TRY_RETAIN_NOT.rawValue) ? 0 : 1
      if mt_refcount_has_amount(call) != 0 {
        amount = UInt32(truncatingIfNeeded: VarInt.read(&at, &isMalformed))
      }
    }
    guard let known = RefcountEvent.Call(rawValue: call) else { return nil }
    let object = readObject(tag, site, &at, &isMalformed)
    var count = mt_refcount_expected(predictor, object)
    if UInt32(tag) & MT_REFCOUNT_COUNT_WRITTEN != 0 { count = VarInt.read(&at, &isMalformed) }
    mt_refcount_learn(predictor, site, call, amount, object, count)
    return RefcountEvent(
      call: known, time: EventTime(time), thread: ThreadIndex(thread), object: Address(object),
      amount: amount, count: count, stack: StackID(stack))
  }

  private func readStack(
    _ tag: UInt8, _ at: inout UnsafeRawPointer, _ isMalformed: inout Bool
  ) -> UInt32? {
    switch UInt32(tag) & MT_TAG_SITE {
    case MT_SITE_AFTER_PAIR.rawValue: return mt_refcount_after_pair(predictor)
    case MT_SITE_AFTER_ONE.rawValue: return mt_refcount_after_one(predictor)
    default:
      let index = Self.byte(&at)
      if index != 0 {
        return withUnsafePointer(to: &predictor.pointee.recent) {
          UnsafeRawPointer($0).load(fromByteOffset: Int(index) * 4, as: UInt32.self)
        }
      }
      let distance = VarInt.unzigzag(VarInt.read(&at, &isMalformed))
      let stack = predictor.pointee.highest &+ UInt32(truncatingIfNeeded: distance)
      mt_refcount_learn_full(predictor, stack)
      return stack
    }
  }

  private func readObject(
    _ tag: UInt8, _ site: UnsafeMutablePointer<mt_refcount_site>, _ at: inout UnsafeRawPointer,
    _ isMalformed: inout Bool
  ) -> UInt64 {
    let code = UInt32(tag) >> UInt32(MT_REFCOUNT_OBJECT_SHIFT) & MT_REFCOUNT_OBJECT
    switch code {
    case MT_OBJECT_LATEST.rawValue: return predictor.pointee.object
    case MT_OBJECT_OF_SITE.rawValue: return site.pointee.object
    case MT_OBJECT_RECENT.rawValue:
      return mt_refcount_recent_object(predictor, UInt32(Self.byte(&at)))
    default:
      let distance = VarInt.unzigzag(VarInt.read(&at, &isMalformed))
      return predictor.pointee.object &+ distance << 3
    }
  }

  @inline(__always)
  private static func byte(_ at: inout UnsafeRawPointer) -> UInt8 {
    defer { at += 1 }
    return at.load(as: UInt8.self)
  }
}
