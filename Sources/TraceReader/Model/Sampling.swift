#if canImport(Glibc)
  import Glibc
#endif

/// How a sampled trace stands for the whole.
///
/// The recorder throws points on the line of bytes that a thread allocates, at random, `interval`
/// bytes apart in the mean, and records the allocations with a point in them, together with their
/// ends. So an allocation of *s* bytes is in the sample with the probability
///
///     p(s) = 1 - exp(-(s + 1) / interval)
///
/// whatever the others are. Dividing by *p* gives estimates without bias (Horvitz and Thompson): one
/// in the sample stands for 1/*p* allocations and *s*/*p* bytes. The sum of these has the variance
/// Σ (1 - p) / p² × value² over those in the sample, estimated without bias as well.
///
/// Source: `sample_interval` of the file header, docs/trace-format.md, "Samples".
public struct Sampling: Hashable, Sendable {
  /// The mean number of bytes between two samples, at least 1.
  public let interval: UInt64

  /// Intervals above this are taken as this: an estimate could not be written down.
  static let greatestInterval: UInt64 = 1 << 40

  /// Creates the sampling of a trace; nil when everything was recorded.
  public init?(header: TraceHeader) {
    self.init(interval: header.sampleInterval)
  }

  /// Creates a sampling with this interval; nil for 0.
  public init?(interval: UInt64) {
    guard interval > 0 else { return nil }
    self.interval = min(interval, Self.greatestInterval)
  }

  /// How probable it is that an allocation is in the sample.
  ///
  /// - Parameter size: Requested bytes.
  /// - Returns: Above 0, at most 1.
  public func probability(ofSize size: UInt64) -> Double {
    -expm1(-(Double(size) + 1) / Double(interval))
  }

  /// How many allocations one in the sample stands for: the inverse of its probability, rounded.
  public func allocations(perSampleOfSize size: UInt64, samples: UInt64 = 1) -> UInt64 {
    SampleWeight.integer((Double(samples) / probability(ofSize: size)).rounded())
  }

  /// Of allocations of so many bytes or more, whatever the size of each, one is in the sample with a
  /// confidence of 95 %.
  ///
  /// None of them is with the probability exp(-Σ (s + 1) / interval), and that of 3 is 0.0498.
  public var undetectedBytes: UInt64 {
    let (bytes, isTooLarge) = interval.multipliedReportingOverflow(by: 3)
    return isTooLarge ? .max : bytes
  }

  /// What one allocation in the sample adds to the variance of a sum of counts; times the square of
  /// its size, to that of a sum of bytes.
  public func countVariance(ofSize size: UInt64) -> Double {
    let probability = probability(ofSize: size)
    return (1 - probability) / (probability * probability)
  }
}

/// How far estimates may be off: variances of the figures of a ``Tally``, in blocks² and bytes².
public struct TallyVariance: Hashable, Sendable {
  /// Of ``Tally/totalCount``.
  public var totalCount = 0.0
  /// Of ``Tally/totalBytes``.
  public var totalBytes = 0.0
  /// Of ``Tally/liveCount``.
  public var liveCount = 0.0
  /// Of ``Tally/liveBytes``.
  public var liveBytes = 0.0

  /// Creates the variances of exact figures.
  public init() {}

  /// Of ``Tally/freedCount``: samples are independent, so those of parts add up to the whole's.
  public var freedCount: Double { max(0, totalCount - liveCount) }

  /// Of ``Tally/freedBytes``.
  public var freedBytes: Double { max(0, totalBytes - liveBytes) }

  /// Adds the variances of another set of allocations.
  public static func += (left: inout TallyVariance, right: TallyVariance) {
    left.totalCount += right.totalCount
    left.totalBytes += right.totalBytes
    left.liveCount += right.liveCount
    left.liveBytes += right.liveBytes
  }

  /// Half the width of the interval that holds the true figure with a confidence of 95 %.
  public static func margin(_ variance: Double) -> Double { 1.96 * variance.squareRoot() }
}
