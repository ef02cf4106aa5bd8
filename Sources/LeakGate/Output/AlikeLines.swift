extension GateResult {
  /// Fewer are told one by one.
  static let leastAlike = 4

  /// Lines about processes, of which many that are the same for one program are one.
  ///
  /// - Parameter lines: `app (pid 7): was killed`, and others.
  /// - Returns: `app, 12 processes: was killed` in place of the first of them.
  func joiningAlike(_ lines: [String]) -> [String] {
    let names = Dictionary(processes.map { ($0.title, $0.program) }) { first, _ in first }
    let joined = lines.map { line -> String? in
      guard let colon = line.firstRange(of: ": "),
        let name = names[String(line[..<colon.lowerBound])]
      else { return nil }
      return "\(name)\(line[colon.lowerBound...])"
    }
    let counts = Dictionary(joined.compactMap { $0 }.map { ($0, 1) }, uniquingKeysWith: +)
    var told: Set<String> = []
    return zip(lines, joined).compactMap { line, alike in
      guard let alike, let count = counts[alike], count >= Self.leastAlike else { return line }
      guard told.insert(alike).inserted, let colon = alike.firstRange(of: ": ") else { return nil }
      return "\(alike[..<colon.lowerBound]), \(count) processes\(alike[colon.lowerBound...])"
    }
  }
}
