#if canImport(Glibc)
  import Glibc
#endif

/// A percentage on standard error for work that takes more than a second.
///
/// Only on a terminal, and erased at the end: it never ends up in a log or between the lines of a
/// report.
struct ProgressLine {
  private let label: String
  private let isTerminal: Bool
  private let started: UInt64
  private var shownPercent: UInt64?

  /// - Parameters:
  ///   - label: What takes its time: `Reading server.mtrace`.
  ///   - isTerminal: Whether standard error is one.
  ///   - now: The monotonic time in nanoseconds at which the work starts.
  init(_ label: String, isTerminal: Bool = isatty(2) == 1, now: UInt64 = Self.clock()) {
    self.label = label
    self.isTerminal = isTerminal
    started = now
  }

  /// Notes how far the work is.
  ///
  /// Cheap enough to be called for every chunk of a file.
  ///
  /// - Parameters:
  ///   - done: Bytes read.
  ///   - total: Bytes to read; 0 shows nothing.
  mutating func update(_ done: UInt64, of total: UInt64) {
    guard isTerminal, let text = text(done, of: total, now: Self.clock()) else { return }
    Diagnostics.writeRaw("\r\(text)\u{1b}[K")
  }

  /// Erases the line, if there is one.
  mutating func finish() {
    guard shownPercent != nil else { return }
    shownPercent = nil
    Diagnostics.writeRaw("\r\u{1b}[K")
  }

  /// What to show, or `nil` when it is too early or the percentage has not changed.
  mutating func text(_ done: UInt64, of total: UInt64, now: UInt64) -> String? {
    guard total > 0, now &- started >= 1_000_000_000 else { return nil }
    let percent = UInt64(Double(min(done, total)) / Double(total) * 100)
    guard percent != shownPercent else { return nil }
    shownPercent = percent
    return "\(label): \(percent) %"
  }

  /// The monotonic clock, nanoseconds.
  static func clock() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000
      &+ UInt64(truncatingIfNeeded: time.tv_nsec)
  }
}
