import CInterpose
import CTraceFormat
import Testing
import TraceReader
import TraceTestSupport

/// What the recorder writes of retains and releases, the reader reads, bit for bit.
@Suite struct RefcountWriterTests {
  /// The recorder's writer, on a buffer of its own.
  private final class Encoder {
    private static let capacity = 1 << 19
    private let buffer: UnsafeMutablePointer<UInt8>
    let writer: UnsafeMutablePointer<mt_refcount_writer>
    private let baseTime: UInt64

    init(baseTime: UInt64) {
      self.baseTime = baseTime
      buffer = .allocate(capacity: Self.capacity)
      buffer.initialize(repeating: 0, count: Self.capacity)
      writer = .allocate(capacity: 1)
      writer.initialize(to: mt_refcount_writer())
      writer.pointee.cursor = buffer
      writer.pointee.limit = buffer + Self.capacity - 2 * Int(MT_REFCOUNT_MAX_LENGTH)
      writer.pointee.time = baseTime
      writer.pointee.thread = 1
    }

    deinit {
      buffer.deallocate()
      writer.deallocate()
    }

    var count: Int { writer.pointee.cursor - buffer }

    func append(_ event: RefcountEvent) {
      var raw = mt_refcount_event(
        time: event.time.rawValue, object: event.object.rawValue, count: event.count,
        stack: event.stack.rawValue, amount: event.amount, call: event.call.rawValue)
      precondition(writer.pointee.cursor < writer.pointee.limit)
      #expect(mt_refcount_write(writer, &raw, event.thread.rawValue))
    }

    /// What the reader makes of it.
    func events() throws -> [RefcountEvent] {
      var trace = TraceBuilder()
      trace.appendChunk(
        Array(UnsafeBufferPointer(start: buffer, count: count)),
        encoding: MT_ENCODING_PREDICTED.rawValue, baseTime: baseTime, kind: MT_CHUNK_REFCOUNTS)
      let file = try trace.write()
      return try withExtendedLifetime(file) {
        var events: [RefcountEvent] = []
        let damage = try Trace(path: file.path).forEachRefcount {
          events.append($0)
          return true
        }
        #expect(damage == [])
        return events
      }
    }
  }

  private static func event(
    _ call: RefcountEvent.Call, _ object: UInt64, count: UInt64 = 1, amount: UInt32? = nil,
    stack: UInt32 = 7, time: UInt64, thread: UInt32 = 1
  ) -> RefcountEvent {
    RefcountEvent(
      call: call, time: EventTime(time), thread: ThreadIndex(thread), object: Address(object),
      amount: amount ?? (call == .tryRetainFailed ? 0 : 1), count: count, stack: StackID(stack))
  }

  /// Objects and stacks as programs have them: few at a time, in changing company, with surprises.
  private static func randomEvents(_ seed: UInt64) -> [RefcountEvent] {
    var random = SeededGenerator(seed: seed)
    var counts: [UInt64: UInt64] = [:]
    var time: UInt64 = 5000
    var thread: UInt32 = 1
    return (0..<8000).map { _ in
      time += UInt64.random(in: 0...(random.next() % 50 == 0 ? 1 << 40 : 300), using: &random)
      if random.next() % 200 == 0 { thread = UInt32.random(in: 1...4, using: &random) }
      let isStrange = random.next() % 20 == 0
      let object =
        isStrange
        ? UInt64.random(in: 0...(1 << 56), using: &random) & ~7
        : 0x5555_0000_0000 + UInt64.random(in: 0..<40, using: &random) * 48
      let call = RefcountEvent.Call.allCases.randomElement(using: &random) ?? .retain
      let amount: UInt32? =
        [.retainN, .releaseN].contains(call) ? .random(in: 0...(.max), using: &random) : nil
      let stack =
        isStrange
        ? UInt32.random(in: 0...0x7fff_ffff, using: &random)
        : UInt32.random(in: 2..<30, using: &random)
      let count = isStrange ? UInt64.random(in: 0...(.max), using: &random) : counts[object] ?? 1
      let event = event(
        call, object, count: count, amount: amount, stack: stack, time: time, thread: thread)
      counts[object] = UInt64(bitPattern: Int64(bitPattern: count) &+ event.change)
      return event
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func randomEventsComeBack(seed: UInt64) throws {
    let encoder = Encoder(baseTime: 5000)
    let events = Self.randomEvents(seed)
    events.forEach(encoder.append)
    #expect(try encoder.events() == events)
  }

  @Test func whatIsExpectedTakesTwoBytes() throws {
    let encoder = Encoder(baseTime: 5000)
    var before = 0
    for round in UInt64(0)..<100 {
      if round == 3 { before = encoder.count }
      encoder.append(Self.event(.retain, 0x1000, count: 1, stack: 7, time: 5000 + round * 20))
      encoder.append(Self.event(.release, 0x1000, count: 2, stack: 8, time: 5010 + round * 20))
    }
    #expect(encoder.count - before == 97 * 2 * 2)
  }

  @Test func anAbandonedEventTeachesNothing() throws {
    let encoder = Encoder(baseTime: 5000)
    let first = Self.event(.retain, 0x1000, time: 5001)
    encoder.append(first)
    // As far as a longjmp may let it come: the tables have learnt, the tag is not written.
    _ = mt_refcount_learn_stack(&encoder.writer.pointee.predictor, 99)
    encoder.writer.pointee.cursor[1] = 0x55
    mt_refcount_writer_repair(encoder.writer)
    let second = Self.event(.release, 0x1000, count: 2, time: encoder.writer.pointee.time + 10)
    encoder.append(second)
    #expect(try encoder.events() == [first, second])
  }

  @Test func theLongestEventFitsIntoTheReservedLength() throws {
    let encoder = Encoder(baseTime: 0)
    encoder.append(
      Self.event(
        .releaseN, 0x00ff_ffff_ffff_fff8, count: .max, amount: .max, stack: 0x7fff_ffff,
        time: .max))
    #expect(encoder.count <= Int(MT_REFCOUNT_MAX_LENGTH))
    #expect(try encoder.events().map(\.count) == [.max])
  }

  private static let cases: [(String, String, Bool)] = [
    ("Node", "app.Node", true), ("app.Node", "app.Node", true),
    ("Node", "app.Node<Swift.Int>", true), ("Node<Swift.Int>", "app.Node<Swift.Int>", true),
    ("Node<Swift.Int>", "app.Node<App.A>", false), ("Nod", "app.Node", false),
    ("Nod?", "app.Node", true), ("*ode", "app.Node", true),
    ("Outer.Inner", "app.Outer.Inner", true), ("Inner", "app.Outer.Inner", false),
    ("A,Node", "app.Node", true), ("A,,B", "app.Node", false), ("", "app.Node", false),
    ("Pair<Swift.Int, Swift.String>", "app.Pair<Swift.Int, Swift.String>", true),
    ("Pair<Swift.Int, Swift.String>,Node", "app.Node", true), ("node", "app.Node", false),
    ("Closure context", "Closure context", true), ("*<*>", "app.Pair<A, B>", true),
    ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbYbZ", false), ("***", "x", true),
  ]

  @Test(arguments: cases)
  func patterns(patterns: String, name: String, fits: Bool) {
    #expect(mt_refcount_pattern_fits(patterns, name) == fits)
  }
}
