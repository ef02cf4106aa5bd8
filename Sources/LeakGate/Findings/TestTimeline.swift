import Reports
import TraceReader

/// Which tests ran when, from the marks `test began: NAME` and `test ended: NAME`.
///
/// Tests may run side by side: what a moment tells is then a list of candidates. A test without an
/// end ran until the process ended.
struct TestTimeline {
  private static let began = "test began: "
  private static let ended = "test ended: "

  /// The tests that run from a moment on, until the next one.
  private struct Moment {
    var nanoseconds: UInt64
    var running: [Int]
  }

  private var names: [String] = []
  private var moments: [Moment] = []
  /// Tests by their function without parameters, `Module.Suite.function`; nil where several share it.
  private var functions: [String: Int?] = [:]

  /// Reads the marks of a trace, which are in order of their times.
  init(_ marks: [Mark], clock: TraceClock) {
    var numbers: [String: Int] = [:]
    // Several cases of one test may run side by side.
    var running: [Int: Int] = [:]
    for mark in marks {
      guard let (name, change) = Self.read(mark.name) else { continue }
      let number = numbers[name] ?? names.count
      if number == names.count {
        names.append(name)
        numbers[name] = number
      }
      let count = (running[number] ?? 0) + change
      running[number] = count > 0 ? count : nil
      moments.append(
        Moment(
          nanoseconds: clock.nanoseconds(mark.time),
          running: Array(running.keys.sorted().prefix(TestEvidence.limit))))
    }
    for (number, name) in names.enumerated() {
      let function = Self.function(of: name)
      functions[function] = functions[function] == nil ? .some(number) : .some(nil)
    }
  }

  /// Whether no test was marked.
  var isEmpty: Bool { names.isEmpty }

  private static func read(_ mark: String) -> (name: String, change: Int)? {
    if mark.hasPrefix(began) { return (String(mark.dropFirst(began.count)), 1) }
    if mark.hasPrefix(ended) { return (String(mark.dropFirst(ended.count)), -1) }
    return nil
  }

  /// `Module.Suite/Inner/test(of:)` is the function `Module.Suite.Inner.test`.
  private static func function(of name: String) -> String {
    let path = split(name, at: "/").joined(separator: ".")
    return withoutParameters(path) ?? path
  }

  /// Splits outside of backticks, in which names may have any characters: `adds (quickly)`.
  static func split(_ text: String, at separator: Character) -> [String] {
    var isQuoted = false
    let parts = text.split { (character: Character) -> Bool in
      if character == "`" { isQuoted.toggle() }
      return !isQuoted && character == separator
    }
    return parts.map { String($0) }
  }

  /// The text before its parameters; nil where it has none.
  static func withoutParameters(_ text: String) -> String? {
    guard let path = split(text, at: "(").first, path != text, !text.hasPrefix("(") else {
      return nil
    }
    return path
  }

  /// What is known of something that happened on a stack, at moments.
  ///
  /// - Parameters:
  ///   - frames: The stack, leaf first.
  ///   - moments: Nanoseconds since the recording began; looked at where the stack tells nothing.
  /// - Returns: Empty where nothing is known.
  func evidence(_ frames: [ReportFrame], at moments: some Sequence<UInt64>) -> TestEvidence {
    var evidence = TestEvidence()
    let marked = isEmpty ? nil : frames.lazy.compactMap(test).first.map { names[$0] }
    if let test = marked ?? CalledTest.name(in: frames) {
      evidence.onStack = [test]
      return evidence
    }
    guard !isEmpty else { return evidence }
    var (alone, together) = ([Int: Int](), [Int: Int]())
    for moment in moments {
      let running = self.running(at: moment)
      for test in running {
        if running.count == 1 {
          alone[test, default: 0] += 1
        } else {
          together[test, default: 0] += 1
        }
      }
    }
    evidence.alone = mostFirst(alone)
    evidence.candidates = mostFirst(together)
    return evidence
  }

  /// Those that ran at most of the moments come first, then those that began first.
  private func mostFirst(_ counts: [Int: Int]) -> [String] {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(TestEvidence.limit)
      .map { names[$0.key] }
  }

  private func running(at nanoseconds: UInt64) -> [Int] {
    var (low, high) = (0, moments.count)
    while low < high {
      let middle = low + (high - low) / 2
      if moments[middle].nanoseconds <= nanoseconds { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? moments[low - 1].running : []
  }

  /// The test that a frame belongs to: the function itself, a closure in it, or a part of it that
  /// runs after an `await`.
  private func test(of frame: ReportFrame) -> Int? {
    guard frame.role == .user else { return nil }
    for word in Self.split(frame.fullName ?? frame.name, at: " ") {
      guard let path = Self.withoutParameters(word) else { continue }
      if case .some(.some(let number)) = functions[path] { return number }
    }
    return nil
  }
}
