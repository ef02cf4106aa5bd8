import TraceReader

/// Which marks part a recording into generations.
public struct GenerationMarks: Sendable, Hashable {
  /// Points in time and names of marks (with `*` and `?`), several in one text with commas between.
  public var chosen: [String] = []
  /// The time from one mark to the next, for marks after the fact; nil for none of these.
  public var every: TimePoint?

  /// The marks that the trace has.
  public init() {}
}

/// Where a generation begins.
struct GenerationMark: Hashable {
  var name: String
  var time: EventTime
  /// Whether it was made while the process ran, not afterwards.
  var isRecorded: Bool
}

extension GenerationMarks {
  /// More generations than this tell nobody anything.
  static let mostMarks = 10_000

  /// The marks in the order of time.
  ///
  /// - Parameters:
  ///   - trace: The trace.
  ///   - length: The length of what is looked at, in nanoseconds.
  /// - Returns: At least one mark.
  /// - Throws: ``ReportError`` when there are none, too many, or none of a name.
  func marks(of trace: Trace, length: UInt64) throws -> [GenerationMark] {
    var marks: [GenerationMark] = []
    if chosen.isEmpty, every == nil { marks = trace.marks.map(GenerationMark.init) }
    for text in chosen { marks += try Self.marks(text, of: trace, length: length) }
    if let every { marks += try Self.marks(every: every, of: trace, length: length) }
    guard !marks.isEmpty else { throw ReportError.notFound(noMarksText) }
    guard marks.count <= Self.mostMarks else {
      throw ReportError.badValue(
        "\(marks.count.grouped) generations are too many; choose at most "
          + "\(Self.mostMarks.grouped) with --marks or --every")
    }
    return Self.named(
      Set(marks).sorted {
        ($0.time, $0.isRecorded ? 0 : 1, $0.name) < ($1.time, $1.isRecorded ? 0 : 1, $1.name)
      })
  }

  /// The points in time among what was chosen, where that is not the name of a mark.
  public func times(in trace: Trace) -> [TimePoint] {
    chosen.filter { text in !trace.marks.contains { $0.name == text } }
      .flatMap { $0.split(separator: ",") }.compactMap { TimePoint(String($0)) }
  }

  private var noMarksText: String {
    if every != nil { return "--every is longer than the recording" }
    if !chosen.isEmpty { return "--marks names no time and no mark" }
    return "the trace has no marks; make some with --every 5s or --marks 1.5s,3s, or while the "
      + "program runs with `memtrace mark PID NAME` or MEMTRACE_MARK"
  }

  /// One text of the user: a name as it is, or a list.
  private static func marks(
    _ text: String, of trace: Trace, length: UInt64
  ) throws -> [GenerationMark] {
    let named = trace.marks.filter { $0.name == text }
    if !named.isEmpty { return named.map(GenerationMark.init) }
    return try text.split(separator: ",").flatMap { part in
      let part = String(part)
      if let time = TimePoint(part) {
        return [GenerationMark(time: try trace.eventTime(of: time, length: length))]
      }
      let named = trace.marks.filter { Glob.matches($0.name, part) }
      guard !named.isEmpty else {
        throw ReportError.notFound(
          TimePoint.message(notFound: part, marks: trace.marks.map(\.name)))
      }
      return named.map(GenerationMark.init)
    }
  }

  private static func marks(
    every: TimePoint, of trace: Trace, length: UInt64
  ) throws -> [GenerationMark] {
    guard let step = every.nanoseconds(ofRecording: length), step > 0 else {
      throw ReportError.badValue("--every takes a time above 0, such as 5s")
    }
    guard length / step <= UInt64(mostMarks) else {
      throw ReportError.badValue(
        "--every makes \((length / step).grouped) generations; at most "
          + "\(mostMarks.grouped) are possible")
    }
    return stride(from: step, to: length, by: UInt64.Stride(clamping: step)).map {
      GenerationMark(time: trace.clock.eventTime(nanoseconds: $0))
    }
  }

  /// Gives those that have no name the letters that Instruments gives.
  private static func named(_ marks: [GenerationMark]) -> [GenerationMark] {
    var count = 0
    return marks.map { mark in
      guard !mark.isRecorded else { return mark }
      var mark = mark
      mark.name = "Generation \(letters(count))"
      count += 1
      return mark
    }
  }

  /// The letters of the number: A, B … Z, AA, AB and so on.
  private static func letters(_ number: Int) -> String {
    var (text, rest) = ("", number)
    repeat {
      text = String(UnicodeScalar(UInt8(65 + rest % 26))) + text
      rest = rest / 26 - 1
    } while rest >= 0
    return text
  }
}

extension GenerationMark {
  init(_ mark: Mark) {
    self.init(name: mark.name, time: mark.time, isRecorded: true)
  }

  /// A mark after the fact.
  init(time: EventTime) {
    self.init(name: "", time: time, isRecorded: false)
  }
}
