import CTraceFormat
import SystemPackage

extension TraceHeader {
  /// The first bytes of a plain or packed trace; fewer than a header when the file is cut.
  ///
  /// They are not checked: the file may be no trace at all.
  /// - Throws: `.io` when the file cannot be read, `.corrupt` when it is compressed in another way.
  public static func bytes(ofFileAt path: FilePath) throws(TraceError) -> [UInt8] {
    try TraceFile(path: path).bytes(at: 0, count: Int(MT_FILE_HEADER_SIZE))
  }

  /// Reads the header of a plain or packed trace, and nothing else of it.
  ///
  /// - Throws: `.io`, `.notATrace`, `.truncated`, `.unsupportedVersion` or `.corrupt`.
  public init(path: FilePath) throws(TraceError) {
    try self.init(decoding: Self.bytes(ofFileAt: path))
  }

  /// Decodes the first bytes of a file.
  ///
  /// - Throws: `.notATrace`, `.truncated`, `.unsupportedVersion` or `.corrupt`.
  init(decoding bytes: [UInt8]) throws(TraceError) {
    self.init()
    guard !bytes.isEmpty else {
      throw TraceError(.notATrace, "is empty: no recording was begun in it")
    }
    let mended = HeaderStart.mended(bytes)
    let bytes = mended ?? bytes
    let magic = Array(MT_FILE_MAGIC.utf8)
    let start = bytes.prefix(magic.count)
    guard start.elementsEqual(magic.prefix(start.count)) else {
      throw TraceError(.notATrace, ForeignFile.description(ofFileBeginningWith: bytes))
    }
    guard bytes.count >= Int(MT_FILE_HEADER_SIZE) else {
      throw TraceError(
        .truncated, at: UInt64(bytes.count),
        "is cut inside its header, which is \(MT_FILE_HEADER_SIZE) bytes long")
    }
    bytes.withUnsafeBytes { decode($0) }
    try check()
    isDamaged = mended != nil || HeaderStart.isAgainstChecksum(bytes)
  }

  private mutating func decode(_ bytes: UnsafeRawBufferPointer) {
    var cursor = ByteCursor(bytes, at: 8)
    major = cursor.read()
    minor = cursor.read()
    byteOrder = cursor.read()
    headerSize = cursor.read()
    flags = Flags(rawValue: cursor.read())
    machine = cursor.read()
    pointerBits = cursor.read()
    pageSize = cursor.read()
    traceID = TraceID(low: cursor.read(), high: cursor.read())
    parentTraceID = TraceID(low: cursor.read(), high: cursor.read())
    sessionID = TraceID(low: cursor.read(), high: cursor.read())
    pid = cursor.read()
    ppid = cursor.read()
    uid = cursor.read()
    stackDepth = cursor.read()
    decodeClocks(&cursor)
    decodeEnd(&cursor)
    sampleInterval = cursor.read()
    cursor.skip(8)
    counters = (0..<Int(MT_COUNTER_SLOTS)).map { _ in cursor.read() }
    events = cursor.read()
    recordedBytes = cursor.read()
    (snapshotSignal, snapshotsBegun, snapshotsDone) = (cursor.read(), cursor.read(), cursor.read())
    var late = ByteCursor(bytes, at: Self.mainStackOffset)
    mainStack = late.read()
    peakResident = late.read()
  }

  private mutating func decodeClocks(_ cursor: inout ByteCursor) {
    startWallNanoseconds = cursor.read()
    startMonotonicNanoseconds = cursor.read()
    startTicks = cursor.read()
    latestMonotonicNanoseconds = cursor.read()
    latestTicks = cursor.read()
    ticksPerSecond = cursor.read()
    tickShift = cursor.read()
    fileEnd = cursor.read()
    ramBytes = cursor.read()
    addressSpaceLimitBytes = cursor.read()
    cgroupLimitBytes = cursor.read()
    chunks = cursor.read()
  }

  private mutating func decodeEnd(_ cursor: inout ByteCursor) {
    endKind = cursor.read()
    endStatus = cursor.read()
    endTicks = cursor.read()
    stopReason = cursor.read()
    stopErrno = cursor.read()
    stopTicks = cursor.read()
    loadTicks = cursor.read()
    forkTicks = cursor.read()
  }

  private func check() throws(TraceError) {
    guard byteOrder == MT_BYTE_ORDER_MARK else {
      throw TraceError(
        .corrupt, at: 12,
        byteOrder.byteSwapped == MT_BYTE_ORDER_MARK
          ? "was written on a big-endian machine, which is not supported"
          : "the byte order mark is damaged")
    }
    guard mt_format_is_known(major) != 0 else {
      throw TraceError(
        .unsupportedVersion, at: 8,
        "has format version \(major).\(minor), this memtrace reads \(MT_FORMAT_MAJOR).x and "
          + "\(MT_FORMAT_MAJOR_ANNOUNCED).x: read it with the memtrace that recorded it")
    }
    guard headerSize == MT_FILE_HEADER_SIZE else {
      throw TraceError(.corrupt, at: 16, "the header size \(headerSize) makes no sense")
    }
  }

  func counter(_ counter: mt_counter) -> UInt64 {
    let index = Int(counter.rawValue)
    return index < counters.count ? counters[index] : 0
  }
}

extension Coverage {
  /// The coverage as far as the header tells it.
  init(header: TraceHeader) {
    self.init()
    eventsDropped = header.counter(MT_COUNT_EVENTS_DROPPED)
    nestedEventsLost = header.counter(MT_COUNT_EVENTS_NESTED_LOST)
    eventsBeforeStart = header.counter(MT_COUNT_EVENTS_BEFORE_START)
    stacksCut = header.counter(MT_COUNT_STACKS_CUT)
    stacksMissing = header.counter(MT_COUNT_STACKS_MISSING)
    stackTableFull = header.counter(MT_COUNT_STACK_TABLE_FULL)
    bootstrapBlocks = header.counter(MT_COUNT_BOOTSTRAP_BLOCKS)
    bootstrapBytes = header.counter(MT_COUNT_BOOTSTRAP_BYTES)
    imagesLost = header.counter(MT_COUNT_IMAGES_LOST)
    childrenNotFollowedCount = header.counter(MT_COUNT_CHILDREN_NOT_FOLLOWED)
    nestedEvents = header.counter(MT_COUNT_EVENTS_NESTED)
    threadsLost = header.counter(MT_COUNT_THREADS_LOST)
    stacksCompared = header.counter(MT_COUNT_STACKS_COMPARED)
    stacksDifferent = header.counter(MT_COUNT_STACKS_DIFFERENT)
    stacksGuessDifferent = header.counter(MT_COUNT_STACKS_GUESS_DIFFERENT)
    stacksLibunwind = header.counter(MT_COUNT_STACKS_LIBUNWIND)
    stacksRootless = header.counter(MT_COUNT_STACKS_ROOTLESS)
    refcountsLost = header.counter(MT_COUNT_REFCOUNTS_LOST)
    announcedLeftOut = header.counter(MT_COUNT_ANNOUNCED_LEFT_OUT)
    stop = StopReason(header: header)
    sampleInterval = header.sampleInterval
    isPausable = header.flags.contains(.pausable)
  }

  /// How many damaged parts are listed; a wholly damaged file has one in each block.
  static let listedDamage = 1000

  package mutating func add(_ entry: Damage) {
    damageCount &+= 1
    damagedBytes &+= entry.length
    if entry.isDoubt {
      doubtCount &+= 1
      doubtfulBytes &+= entry.length
    }
    if damage.count < Self.listedDamage { damage.append(entry) }
  }
}
