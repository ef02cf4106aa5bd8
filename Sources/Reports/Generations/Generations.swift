import TraceReader

/// The blocks that live at one moment, by the mark after which they were allocated.
public struct Generations {
  /// Where a generation begins; nil for what was there before the first mark.
  let marks: [GenerationMark]
  /// The replay, with its live blocks.
  let result: ReplayResult
  /// The moment at which the blocks live, in words; nil for the end.
  let moment: String?

  /// Replays a trace up to a moment.
  ///
  /// - Parameters:
  ///   - trace: The trace.
  ///   - selection: Which marks count; those after the moment do not.
  ///   - request: The moment and the sizes.
  ///   - moment: The moment in words; nil for the end.
  ///   - progress: Called now and then with the bytes of events read so far and all of them.
  /// - Throws: ``ReportError`` when there are no marks, `TraceError` when reading fails.
  public init(
    _ trace: Trace, marks selection: GenerationMarks, request: ReplayRequest,
    moment: String? = nil, progress: (@Sendable (UInt64, UInt64) -> Void)? = nil
  ) throws {
    result = try trace.replay(request, keepsLiveBlocks: true, progress: progress)
    self.moment = moment
    let length = max(trace.recordedNanoseconds, trace.clock.nanoseconds(result.lastTime))
    let all = try selection.marks(of: trace, length: length)
    // A moment ends what is looked at; without one a mark may come after the last event.
    let end = request.liveAt == nil ? nil : try Self.end(of: request, in: trace, result, length)
    marks = all.filter { mark in end.map { mark.time < $0 } ?? true }
  }

  private static func end(
    of request: ReplayRequest, in trace: Trace, _ result: ReplayResult, _ length: UInt64
  ) throws -> EventTime {
    guard case .time(let point) = request.liveAt else { return result.lastTime }
    return try trace.eventTime(of: point, length: length)
  }

  /// How many generations there are, with the one before the first mark.
  var count: Int { marks.count + 1 }

  /// The generation of a block: 0 before the first mark.
  func index(of block: LiveBlock) -> Int {
    marks.partitioningIndex { $0.time >= block.time }
  }

  /// What Instruments calls the row of what was there before.
  static let baselineName = "- Baseline -"

  /// The name of a generation.
  func name(of index: Int) -> String {
    index == 0 ? Self.baselineName : marks[index - 1].name
  }

  /// The replay with the blocks of one generation only.
  ///
  /// - Parameter name: The name of its mark, or `baseline`; of several, all.
  /// - Returns: The result, and the name as reports print it.
  /// - Throws: ``ReportError`` when there is none of that name.
  public func restricted(to name: String) throws -> (result: ReplayResult, name: String) {
    var wanted = Set((0..<count).filter { self.name(of: $0) == name })
    if wanted.isEmpty {
      wanted = Set(
        (0..<count).filter {
          let own = $0 == 0 ? "baseline" : self.name(of: $0)
          return Glob.matches(own, name) || Glob.matches(own, "Generation \(name)")
        })
    }
    guard let first = wanted.min() else {
      let names = (0..<count).map { self.name(of: $0) }
      throw ReportError.notFound(NearMatches.message("generation", name, in: names))
    }
    let shown = wanted.count == 1 ? self.name(of: first) : name
    return (result.restricted { wanted.contains(index(of: $0)) }, shown)
  }
}
