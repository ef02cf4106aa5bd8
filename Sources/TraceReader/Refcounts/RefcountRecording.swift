import CTraceFormat

/// Whether retains and releases were recorded, and of which types.
///
/// Source: `REFCOUNTS` records of META chunks.
public struct RefcountRecording: Hashable, Sendable {
  /// The patterns of the types that were asked for; `1` for all.
  public var patterns: String
  /// The images whose Swift runtime was recorded.
  public var runtimes: [String] = []
  /// `path: reason` of the images whose Swift runtime could not be.
  public var refusals: [String] = []

  /// Makes an entry for a recording that was asked for.
  public init(patterns: String, runtimes: [String] = [], refusals: [String] = []) {
    self.patterns = patterns
    self.runtimes = runtimes
    self.refusals = refusals
  }

  /// Whether all types were asked for.
  public var isOfAllTypes: Bool { patterns == "1" || patterns == "*" }

  /// Adds what a record says, which is a pattern and a text; nil where there was none before.
  static func adding(
    state: UInt32, patterns: String, text: String, to recording: RefcountRecording?
  ) -> RefcountRecording {
    var result = recording ?? RefcountRecording(patterns: patterns)
    switch state {
    case MT_REFCOUNTS_ON.rawValue: result.runtimes.append(text)
    case MT_REFCOUNTS_OFF.rawValue: result.refusals.append(text)
    default: break
    }
    return result
  }
}
