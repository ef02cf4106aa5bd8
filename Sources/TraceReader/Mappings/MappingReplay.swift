/// Follows calls that map memory and unmap it, and tells what came of it.
///
/// A call is two moments: what it ends goes at that before it, what it begins comes at that after
/// it. So threads that have the same addresses one after the other come in the right order.
struct MappingReplay {
  private(set) var history = MappingHistory()
  private var ranges = MappedRanges()
  /// The bytes that can be touched.
  private var usableBytes: UInt64 = 0
  /// How many mappings there are.
  private var liveCount: UInt64 = 0
  private var timeline: TimelineBuilder
  private var lastTime: EventTime

  /// One of the two moments of a call.
  private struct Moment {
    var time: EventTime
    var call: Int
    var isBeginning: Bool
  }

  /// What was where a call of `mremap` takes something from.
  private struct Model {
    var mapping: Mapping
    var isReserved: Bool
  }

  /// Follows all calls up to a moment.
  ///
  /// - Parameters:
  ///   - calls: In the order of their records.
  ///   - end: The last moment that counts.
  ///   - start: Where the timeline begins.
  init(_ calls: [MappingCall], until end: EventTime, start: EventTime = EventTime(0)) {
    lastTime = start
    timeline = TimelineBuilder(
      start: start.rawValue, capacity: ReplayOptions().timelineBuckets)
    // By the position of the call, from its first moment to its second.
    var models: [Int: Model] = [:]
    for moment in Self.moments(of: calls) where moment.time <= end {
      let call = calls[moment.call]
      lastTime = max(lastTime, moment.time)
      timeline.advance(to: lastTime.rawValue, usableBytes, liveCount)
      if call.function == .mremap, models[moment.call] == nil {
        models[moment.call] = model(at: call.ended.start)
      }
      if call.function == .mprotect {
        protect(call)
      } else if moment.isBeginning {
        begin(call, like: models.removeValue(forKey: moment.call))
      } else {
        let known = remove(call.ended, by: call, at: call.endTime)
        history.foreignBytes &+= call.ended.length &- known
      }
    }
  }

  /// Makes the timeline of the history.
  ///
  /// - Parameters:
  ///   - end: When the recording ended, if that was after the last call.
  ///   - clock: That of the trace.
  mutating func finishTimeline(at end: EventTime, clock: TraceClock) {
    timeline.advance(to: max(end, lastTime).rawValue, usableBytes, liveCount)
    history.timeline = timeline.finished(clock: clock)
  }

  private static func moments(of calls: [MappingCall]) -> [Moment] {
    var moments: [Moment] = []
    for (index, call) in calls.enumerated() {
      if !call.ended.isEmpty {
        moments.append(Moment(time: call.endTime, call: index, isBeginning: false))
      }
      if !call.begun.isEmpty {
        moments.append(Moment(time: call.time, call: index, isBeginning: true))
      }
    }
    return moments.enumerated()
      .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
  }

  private func model(at address: UInt64) -> Model? {
    ranges.piece(at: address).map {
      Model(mapping: history.mappings[$0.mapping], isReserved: $0.isReserved)
    }
  }

  private mutating func begin(_ call: MappingCall, like model: Model?) {
    // MAP_FIXED takes the place of what is there. Else nothing is, unless its end went unseen.
    _ = remove(call.begun, by: call, at: call.time)
    let isReserved = call.function == .mmap ? call.protection == 0 : model?.isReserved ?? false
    history.mappings.append(Mapping(call, like: model?.mapping))
    history.liveBytes &+= call.begun.length
    liveCount &+= 1
    add(
      MappedRanges.Piece(
        range: call.begun, mapping: history.mappings.count - 1, isReserved: isReserved))
    notePeak(at: call.time)
  }

  private mutating func protect(_ call: MappingCall) {
    for piece in take(call.begun) {
      var piece = piece
      piece.isReserved = call.protection == 0
      add(piece)
      history.mappings[piece.mapping].noteProtection(call.protection)
    }
    notePeak(at: call.time)
  }

  /// Ends what lies in a range.
  ///
  /// - Returns: How many bytes were mapped there.
  private mutating func remove(
    _ range: MappedRange, by call: MappingCall, at time: EventTime
  ) -> UInt64 {
    var bytes: UInt64 = 0
    for piece in take(range) {
      bytes &+= piece.range.length
      history.mappings[piece.mapping].end(piece.range.length, by: call.stack, at: time)
      if history.mappings[piece.mapping].ended != nil { liveCount &-= 1 }
    }
    history.liveBytes &-= bytes
    return bytes
  }

  private mutating func add(_ piece: MappedRanges.Piece) {
    ranges.insert(piece)
    if piece.isReserved {
      history.mappings[piece.mapping].reservedBytes &+= piece.range.length
    } else {
      usableBytes &+= piece.range.length
    }
  }

  private mutating func take(_ range: MappedRange) -> [MappedRanges.Piece] {
    let pieces = ranges.remove(range)
    for piece in pieces {
      if piece.isReserved {
        history.mappings[piece.mapping].reservedBytes &-= piece.range.length
      } else {
        usableBytes &-= piece.range.length
      }
    }
    return pieces
  }

  private mutating func notePeak(at time: EventTime) {
    timeline.note(usableBytes, liveCount)
    guard usableBytes > history.peakBytes else { return }
    (history.peakBytes, history.peakCount, history.peakTime) = (usableBytes, liveCount, time)
  }
}

extension Mapping {
  private static let readAndWrite: UInt32 = 0x3

  /// What a call begins.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - model: What was there before a call of `mremap`; nil when that is not known.
  fileprivate init(_ call: MappingCall, like model: Mapping?) {
    self.init(
      function: call.function, kind: model?.kind ?? .anonymous, range: call.begun,
      liveBytes: call.begun.length, reservedBytes: 0, began: call.time, stack: call.stack,
      thread: call.thread, protection: model?.protection ?? 0,
      isShared: model?.isShared ?? false, path: model?.path ?? "", offset: model?.offset ?? 0)
    switch call.function {
    case .mmap:
      kind = MappingKind(protection: call.protection, flags: call.flags, path: call.path)
      protection = call.protection
      isShared = call.flags & MappingKind.mapShared != 0
      (path, offset) = (call.path, call.offset)
    case .programBreak: (kind, protection) = (.programBreak, Self.readAndWrite)
    case .mremap, .munmap, .mprotect: break
    }
  }

  /// Takes some of it away.
  fileprivate mutating func end(_ bytes: UInt64, by stack: StackID, at time: EventTime) {
    liveBytes &-= bytes
    if liveBytes == 0 { (ended, endStack) = (time, stack) }
  }

  /// Reserved addresses that are made accessible were reserved for that.
  fileprivate mutating func noteProtection(_ protection: UInt32) {
    if kind == .reserved { kind = MappingKind(privateWithProtection: protection) }
  }
}
