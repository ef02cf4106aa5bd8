import Yams

extension Baseline {
  /// Reads a baseline.
  ///
  /// - Throws: ``GateError`` for what is not understood.
  public init(yaml text: String, name: String) throws(GateError) {
    self.init()
    guard let root = try YAMLFile.root(text, name: name) else { return }
    guard let mapping = root.mapping, mapping["version"]?.scalar?.string == "1" else {
      throw GateError("\(name) is not a baseline of version 1; --update-baseline writes one")
    }
    for (key, value) in mapping {
      switch key.string {
      case "version": break
      case "findings":
        for node in try YAMLFile.list(value, "findings", name) {
          entries.append(try Entry(node, name))
        }
      case "measures": try readMeasures(value, name)
      default:
        throw GateError("\(YAMLFile.place(value, name)): there is no '\(key.string ?? "")' here")
      }
    }
  }

  private mutating func readMeasures(_ node: Node, _ name: String) throws(GateError) {
    for (process, figures) in try YAMLFile.mapping(node, "measures", name) {
      let program = process.string ?? ""
      for (key, value) in try YAMLFile.mapping(figures, program, name) {
        let measure = try Measure(named: key.string ?? "", in: YAMLFile.place(value, name))
        measures[program, default: [:]][measure] = try Amount(value, measure, name)
      }
    }
  }

  /// The file: sorted, a line for each value, so that a change of one entry changes its lines only.
  public var yaml: String {
    var lines = [
      "# What memtrace check tolerates. Renew it with: memtrace check --update-baseline …",
      "# 'reason', 'owner' and 'expires' (as 2027-01-31) may be added to any finding, and stay.",
      "version: 1", entries.isEmpty ? "findings: []" : "findings:",
    ]
    for entry in entries { lines += entry.lines }
    if !measures.isEmpty { lines.append("measures:") }
    for (process, amounts) in measures.sorted(by: { $0.key < $1.key }) {
      lines.append("  \(YAMLText.quoted(process)):")
      for (measure, amount) in amounts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        lines.append(
          "    \(measure.rawValue): {count: \(amount.count), bytes: \(amount.bytes)}")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

extension Amount {
  fileprivate init(_ node: Node, _ measure: Measure, _ name: String) throws(GateError) {
    self.init()
    for (key, value) in try YAMLFile.mapping(node, measure.rawValue, name) {
      switch key.string {
      case "count": count = try YAMLFile.number(value, "count", name)
      case "bytes": bytes = try YAMLFile.number(value, "bytes", name)
      default:
        throw GateError(
          "\(YAMLFile.place(value, name)): there is no '\(key.string ?? "")' in a measure, which "
            + "has count and bytes")
      }
    }
  }
}

extension Baseline.Entry {
  fileprivate init(_ node: Node, _ name: String) throws(GateError) {
    self.init(fingerprint: "", kind: .leak, what: "", count: .max, bytes: .max)
    var (isNamed, hasKind) = (false, false)
    // Once, in the file's order: looking up a key compares it with others, and there are many.
    for (key, value) in node.mapping ?? [:] {
      switch key.string {
      case "fingerprint":
        fingerprint = value.scalar?.string ?? ""
        isNamed = value.scalar != nil
      case "kind":
        let kind = value.string.flatMap(FindingKind.init)
        (self.kind, hasKind) = (kind ?? .leak, kind != nil)
      case let other: try set(other ?? "", to: value, name)
      }
    }
    guard isNamed, hasKind else {
      throw GateError("\(YAMLFile.place(node, name)): a finding has a fingerprint and a kind")
    }
  }

  private mutating func set(_ key: String, to value: Node, _ name: String) throws(GateError) {
    switch key {
    case "what": what = try YAMLFile.string(value, key, name)
    case "count": count = try YAMLFile.number(value, key, name)
    case "bytes": bytes = try YAMLFile.number(value, key, name)
    case "reason": reason = try YAMLFile.string(value, key, name)
    case "owner": owner = try YAMLFile.string(value, key, name)
    case "expires":
      expires = CalendarDay(try YAMLFile.string(value, key, name))
      guard expires != nil else {
        throw GateError("\(YAMLFile.place(value, name)): 'expires' is a day, as 2027-01-31")
      }
    default:
      throw GateError("\(YAMLFile.place(value, name)): there is no '\(key)' in a finding")
    }
  }

  fileprivate var lines: [String] {
    var lines = [
      "  - fingerprint: \"\(fingerprint)\"", "    kind: \(kind.rawValue)",
      "    what: \(YAMLText.quoted(what))", "    count: \(count)", "    bytes: \(bytes)",
    ]
    if let reason { lines.append("    reason: \(YAMLText.quoted(reason))") }
    if let owner { lines.append("    owner: \(YAMLText.quoted(owner))") }
    if let expires { lines.append("    expires: \(expires)") }
    return lines
  }
}

/// Text as YAML takes it.
enum YAMLText {
  /// In double quotes, whatever is in it: names of functions are full of what means something.
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}":
        let digits = String(scalar.value, radix: 16)
        result += "\\x" + (digits.count == 1 ? "0" : "") + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
