/// A finding that stands for all with its fingerprint: one fault, which many processes may have.
///
/// For outputs with room for a few: a leak in each of a hundred workers would take all of it.
struct RepeatedFinding {
  /// The first of them.
  let finding: Finding
  /// How many more there are.
  private(set) var repetitions = 0

  /// Puts findings together.
  ///
  /// - Returns: One for each fingerprint, in the order of the first ones.
  static func of(_ findings: [Finding]) -> [RepeatedFinding] {
    var result: [RepeatedFinding] = []
    var positions: [String: Int] = [:]
    for finding in findings {
      if let position = positions[finding.fingerprint] {
        result[position].repetitions += 1
      } else {
        positions[finding.fingerprint] = result.count
        result.append(RepeatedFinding(finding: finding))
      }
    }
    return result
  }

  /// `3 more findings have this fingerprint`; nil where none has.
  var repetitionText: String? {
    switch repetitions {
    case 0: nil
    case 1: "1 more finding has this fingerprint"
    default: "\(repetitions) more findings have this fingerprint"
    }
  }
}
