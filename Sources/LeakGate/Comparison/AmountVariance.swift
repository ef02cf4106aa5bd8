import TraceReader

/// How far an amount that was estimated from a sample may be off: variances, in blocks² and bytes².
struct AmountVariance: Sendable, Hashable {
  /// Of the number of blocks.
  var count = 0.0
  /// Of the bytes.
  var bytes = 0.0

  /// Adds the variance of other blocks, which are in a sample or not independently of these.
  static func += (left: inout AmountVariance, right: AmountVariance) {
    left.count += right.count
    left.bytes += right.bytes
  }

  /// Whether a difference with this variance may be one of the samples only, at 95 % confidence.
  ///
  /// - Parameters:
  ///   - more: Blocks more.
  ///   - bytesMore: Bytes more.
  /// - Returns: True where both lie within their margins.
  func explains(_ more: Int64, _ bytesMore: Int64) -> Bool {
    Double(more.magnitude) <= TallyVariance.margin(count)
      && Double(bytesMore.magnitude) <= TallyVariance.margin(bytes)
  }

  /// That of a difference of medians.
  ///
  /// A median of several runs is no further off than one run is.
  ///
  /// - Parameters:
  ///   - base: The runs before.
  ///   - head: The runs after.
  ///   - scale: How often the base is subtracted.
  ///   - variance: That of a figure of one run.
  /// - Returns: The sum of the mean variances of both sides.
  static func difference(
    _ base: [RunProfile], _ head: [RunProfile], scale: Double = 1,
    _ variance: (RunProfile) -> AmountVariance?
  ) -> AmountVariance {
    var sum = AmountVariance()
    for (side, scale) in [(base, scale * scale), (head, 1)] where !side.isEmpty {
      let all = side.map { variance($0) ?? AmountVariance() }
      sum.count += scale * all.reduce(0) { $0 + $1.count } / Double(side.count)
      sum.bytes += scale * all.reduce(0) { $0 + $1.bytes } / Double(side.count)
    }
    return sum
  }
}
