import TraceReader

/// Which allocations were made to fail while the program ran.
public struct ShortageSummary: Sendable, Hashable, Encodable {
  /// Their numbers, counted from 1, as `5,100-200`; nil for none.
  public var failAt: String?
  /// Those that would have made more live bytes; nil for no limit.
  public var limitBytes: UInt64?

  /// Creates a summary.
  public init(failAt: String? = nil, limitBytes: UInt64? = nil) {
    self.failAt = failAt
    self.limitBytes = limitBytes
  }

  /// What the recorder noted; nil where nothing was asked for.
  init?(_ notes: [Note]) {
    failAt = notes.first { $0.kind == .failAt }?.text
    limitBytes = notes.first { $0.kind == .limit }?.value
    guard failAt != nil || limitBytes != nil else { return nil }
  }

  /// `as --fail-at=5 and --limit=64.00 MiB have it`.
  func text(_ bytes: ByteStyle) -> String {
    let options = [
      failAt.map { "--fail-at=\($0)" }, limitBytes.map { "--limit of \(bytes.withUnit($0))" },
    ].compactMap(\.self)
    return "as \(options.joined(separator: " and ")) \(options.count > 1 ? "have" : "has") it"
  }
}
