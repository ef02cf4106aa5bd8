import TraceReader

/// What a sampled trace says about itself in every report.
public struct SamplingSummary: Sendable, Hashable, Encodable {
  /// The mean number of bytes between two samples.
  public var intervalBytes: UInt64
  /// How probable it is that the true figure is not further away than the margin, in percent.
  public var confidencePercent = 95
  /// With the same confidence, where nothing was sampled there are fewer bytes than this.
  public var undetectedBytes: UInt64

  /// Takes over how a trace was sampled.
  public init(_ sampling: Sampling) {
    intervalBytes = sampling.interval
    undetectedBytes = sampling.undetectedBytes
  }

  /// `a sample of 1 in 512 KiB`.
  var name: String { "a sample of 1 in \(Self.short(intervalBytes))" }

  /// The sentence under the headline of a report.
  var text: String {
    "Estimated from \(name); ± is the margin at \(confidencePercent) % confidence, "
      + "0 means less than \(Self.short(undetectedBytes))."
  }

  /// The interval as it was given, and its triple: `512 KiB`, not `512.0 KiB`; `1.5 MiB`.
  private static func short(_ bytes: UInt64) -> String {
    let units = ["B", "KiB", "MiB", "GiB"]
    var (value, unit, half) = (bytes, 0, "")
    while unit < units.count - 1, value >= 1024, value % 512 == 0, half.isEmpty {
      half = value % 1024 == 0 ? "" : ".5"
      value /= 1024
      unit += 1
    }
    return "\(value.grouped)\(half) \(units[unit])"
  }
}

/// How far estimates may be off, in words.
enum MarginText {
  /// ` ±12 %` after an estimate; nothing after an exact figure.
  static func suffix(_ margin: UInt64?, of value: UInt64) -> String {
    guard let margin, margin > 0, value > 0 else { return "" }
    let percent = (Double(margin) / Double(value) * 100).rounded(.up)
    return " ±\(UInt64(exactly: percent) ?? 0) %"
  }
}

extension TallyVariance {
  /// Half the width of the interval around an estimate with this variance, in whole units.
  static func wholeMargin(_ variance: Double) -> UInt64 {
    let margin = TallyVariance.margin(max(0, variance)).rounded()
    return UInt64(exactly: min(margin, 0x1p63)) ?? 0
  }
}
