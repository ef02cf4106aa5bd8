import CTraceFormat
import TraceReader

/// A heap snapshot made by hand.
///
/// ```swift
/// var snapshot = SnapshotBuilder(time: 1010, reason: MT_SNAPSHOT_AT_EXIT)
/// snapshot.region(0x5000_0000..<0x5001_0000, path: "[heap]")
/// snapshot.words(at: 0x5000_0010, [0x5000_0020, 0, 0x5000_0010])
/// trace.snapshot(snapshot)
/// ```
public struct SnapshotBuilder: Sendable {
  /// The threads that are written.
  public var threads: [SnapshotThread] = []
  /// Whether an END record is written: without it the snapshot counts as cut.
  public var isComplete = true
  /// How long the threads stood still.
  public var pauseNanoseconds: UInt64 = 1_500_000

  private let time: UInt64
  private let reason: mt_snapshot_reason
  private let detail: Int32
  private let name: String
  private var regions: [(range: Range<UInt64>, protection: UInt32, flags: UInt32, path: String)] =
    []
  private var memory: [UInt64: UInt64] = [:]
  private var damagedRuns: [[UInt8]] = []
  private var classes: [(address: UInt64, kind: UInt32, name: String)] = []
  /// What the kernel keeps of the program; kinds are those of `mt_snapshot_kernel_kind`.
  public var kernelWords: [(value: UInt64, kind: UInt32, number: UInt32)] = []

  /// Begins a snapshot.
  ///
  /// - Parameters:
  ///   - time: What events up to here left is its heap.
  ///   - reason: Why it was taken.
  ///   - detail: The exit status or signal that goes with the reason.
  ///   - name: The name that goes with the reason.
  public init(
    time: UInt64, reason: mt_snapshot_reason = MT_SNAPSHOT_AT_EXIT, detail: Int32 = 0,
    name: String = ""
  ) {
    self.time = time
    self.reason = reason
    self.detail = detail
    self.name = name
  }

  /// Adds a mapping.
  public mutating func region(
    _ range: Range<UInt64>, path: String = "",
    protection: SnapshotRegion.Protection = [.read, .write], isShared: Bool = false,
    isKept: Bool = true, isRecorder: Bool = false
  ) {
    let flags =
      (isShared ? MT_SNAPSHOT_SHARED.rawValue : 0) | (isKept ? MT_SNAPSHOT_KEPT.rawValue : 0)
      | (isRecorder ? MT_SNAPSHOT_OWN.rawValue : 0)
    regions.append((range, protection.rawValue, flags, path))
  }

  /// Adds a thread; unless told otherwise, one that stood still.
  public mutating func thread(
    _ thread: UInt32, tid: UInt32, state: SnapshotThread.State = .parked, sp: UInt64,
    registers: [UInt64] = [], tlsBase: UInt64 = 0
  ) {
    threads.append(
      SnapshotThread(
        thread: thread, tid: tid, state: state, sp: sp, registers: registers, tlsBase: tlsBase))
  }

  /// Sets the words from an address on; zeros are not kept.
  public mutating func words(at address: UInt64, _ words: [UInt64]) {
    for (index, word) in words.enumerated() {
      memory[address &+ UInt64(index) &* 8] = word == 0 ? nil : word
    }
  }

  /// Adds a class; `kind` is an `mt_snapshot_class_kind`.
  public mutating func addClass(_ name: String, at address: UInt64, kind: UInt32 = 1) {
    classes.append((address, kind, name))
  }

  /// Adds the bytes of a run as they are, even one that no recorder would write.
  public mutating func run(_ bytes: [UInt8]) { damagedRuns.append(bytes) }

  /// The content of the chunk with the records before the words.
  func recordBytes() -> [UInt8] {
    var writer = ByteWriter()
    Self.record(MT_SNAPSHOT_BEGIN, to: &writer) { record in
      record.write(time)
      record.write(reason.rawValue)
      record.write(detail)
      for field in [UInt32(1), 4711, 0, UInt32(name.utf8.count)] { record.write(field) }
      record.write(name.utf8)
    }
    for thread in threads {
      Self.record(MT_SNAPSHOT_THREAD, to: &writer) { record in
        for field in [thread.sp, thread.pc, thread.tlsBase] { record.write(field) }
        let count = UInt32(thread.registers.count)
        for field in [thread.thread, thread.tid, thread.state.code, count] {
          record.write(field)
        }
        for register in thread.registers { record.write(register) }
      }
      if let stack = thread.signalStack {
        Self.record(MT_SNAPSHOT_SIGNAL_STACK, to: &writer) { record in
          for field in [stack.lowerBound, UInt64(stack.count)] { record.write(field) }
          for field in [thread.thread, thread.tid] { record.write(field) }
        }
      }
    }
    for word in kernelWords {
      Self.record(MT_SNAPSHOT_KERNEL, to: &writer) { record in
        record.write(word.value)
        for field in [word.kind, word.number] { record.write(field) }
      }
    }
    for region in regions {
      Self.record(MT_SNAPSHOT_REGION, to: &writer) { record in
        for field in [region.range.lowerBound, region.range.upperBound, 0] { record.write(field) }
        for field in [region.protection, region.flags, UInt32(region.path.utf8.count), 0] {
          record.write(field)
        }
        record.write(region.path.utf8)
      }
    }
    for item in classes {
      Self.record(MT_SNAPSHOT_CLASS, to: &writer) { record in
        record.write(item.address)
        for field in [item.kind, UInt32(item.name.utf8.count)] { record.write(field) }
        record.write(item.name.utf8)
      }
    }
    return writer.bytes
  }

  /// The content of the chunk with the words: a run for each stretch without a gap of a page.
  func wordBytes() -> [UInt8] {
    var writer = ByteWriter()
    for run in damagedRuns { Self.append(run, at: 0, to: &writer) }
    var start: UInt64 = 0
    var encoder = SnapshotWordEncoder(address: 0)
    for (address, word) in memory.sorted(by: { $0.key < $1.key }) {
      if address &- encoder.end > 4096 || encoder.bytes.isEmpty {
        if !encoder.bytes.isEmpty { Self.append(encoder.bytes, at: start, to: &writer) }
        start = address
        encoder = SnapshotWordEncoder(address: address)
      }
      encoder.append(word, at: address)
    }
    if !encoder.bytes.isEmpty { Self.append(encoder.bytes, at: start, to: &writer) }
    return writer.bytes
  }

  /// The content of the chunk with the END record; nil for a snapshot that was cut.
  func endBytes() -> [UInt8]? {
    guard isComplete else { return nil }
    var writer = ByteWriter()
    let bytes = regions.reduce(0) { $0 &+ UInt64($1.range.count) }
    Self.record(MT_SNAPSHOT_END, to: &writer) { record in
      for field in [pauseNanoseconds, 1_000_000, 9_000_000, bytes, UInt64(memory.count), 0, 0] {
        record.write(field)
      }
    }
    return writer.bytes
  }

  private static func record(
    _ type: mt_snapshot_record_type, to writer: inout ByteWriter, _ body: (inout ByteWriter) -> Void
  ) {
    var content = ByteWriter()
    body(&content)
    writer.write(UInt32(content.bytes.count + 8))
    writer.write(UInt16(type.rawValue))
    writer.write(UInt16(0))
    writer.write(content.bytes)
    writer.pad(to: 8)
  }

  private static func append(_ run: [UInt8], at address: UInt64, to writer: inout ByteWriter) {
    writer.write(address)
    writer.write(UInt32(run.count))
    writer.write(UInt32(0))
    writer.write(run)
    writer.pad(to: 8)
  }
}

extension SnapshotThread.State {
  /// The state as an `mt_snapshot_thread_state`.
  fileprivate var code: UInt32 {
    switch self {
    case .taker: MT_SNAPSHOT_TAKER.rawValue
    case .parked: MT_SNAPSHOT_PARKED.rawValue
    case .blockingSignals: MT_SNAPSHOT_BLOCKING.rawValue
    case .silent: MT_SNAPSHOT_SILENT.rawValue
    case .unknown(let code): code
    }
  }
}

/// Encodes the words of a run, the shorter of both ways each time.
struct SnapshotWordEncoder {
  private var writer = ByteWriter()
  private(set) var end: UInt64
  private var previous: UInt64 = 0

  init(address: UInt64) {
    end = address
  }

  var bytes: [UInt8] { writer.bytes }

  mutating func append(_ word: UInt64, at address: UInt64) {
    let gap = (address &- end) / 8 + 1
    let fromPrevious = VarInt.zigzag(word &- previous)
    let fromPlace = VarInt.zigzag(word &- address)
    let usesPlace = Self.size(fromPlace) < Self.size(fromPrevious)
    let distance = usesPlace ? fromPlace : fromPrevious
    let size = Self.size(distance)
    let code = UInt8(size == 8 ? 7 : size)
    let base = usesPlace ? UInt8(MT_SNAPSHOT_OWN_ADDRESS) : 0
    writer.write(base | code << 4 | (gap < 16 ? UInt8(gap) : 0))
    if gap >= 16 { writer.writeVarInt(gap) }
    for byte in 0..<size { writer.write(UInt8(truncatingIfNeeded: distance >> UInt64(byte * 8))) }
    previous = word
    end = address &+ 8
  }

  private static func size(_ value: UInt64) -> Int {
    let size = (71 - value.leadingZeroBitCount) / 8
    return size == 7 ? 8 : size
  }
}

extension TraceBuilder {
  /// Adds a snapshot; they are numbered in the order they are added.
  public mutating func snapshot(_ snapshot: SnapshotBuilder) {
    snapshots.append(snapshot)
  }
}
