import Yams

extension GateConfiguration {
  /// Reads a configuration.
  ///
  /// - Parameters:
  ///   - text: The file.
  ///   - name: The name of the file, for messages.
  /// - Throws: ``GateError`` for what is not understood: an unknown key is a rule that would
  ///   silently not be checked.
  public init(yaml text: String, name: String) throws(GateError) {
    self.init()
    guard let root = try YAMLFile.root(text, name: name) else { return }
    guard let mapping = root.mapping else {
      throw GateError("\(name): the file is a list of KEY: VALUE lines, such as 'rules:'")
    }
    for (key, value) in mapping {
      try set(key.string ?? "", to: value, name: name)
    }
  }

  private mutating func set(_ key: String, to value: Node, name: String) throws(GateError) {
    let place = YAMLFile.place(value, name)
    switch key {
    case "version":
      guard value.scalar?.string == "1" else {
        throw GateError("\(place): version \(value.string ?? "?") is not known; this is version 1")
      }
    case "rules":
      for node in try YAMLFile.list(value, key, name) { rules.append(try Self.rule(node, name)) }
    case "default-rules": usesDefaultRules = try YAMLFile.bool(value, key, name)
    case "processes": processes = try YAMLFile.strings(value, key, name)
    case "baseline":
      let file = try YAMLFile.string(value, key, name)
      guard !file.isEmpty else { throw GateError("\(place): 'baseline' takes the name of a file") }
      baseline = file
    case "suppressions": suppressions = try YAMLFile.strings(value, key, name)
    case "stale": failsOnStale = try YAMLFile.choice(value, key, "fail", "warn", name)
    case "unmeasured": failsOnUnmeasured = try YAMLFile.choice(value, key, "fail", "warn", name)
    case "killed": failsOnKilled = try YAMLFile.choice(value, key, "fail", "allow", name)
    default:
      throw GateError(
        "\(place): there is no '\(key)'; the keys are rules, default-rules, processes, baseline, "
          + "suppressions, stale, unmeasured and killed")
    }
  }

  /// `leaks <= 0`, or `{measure: leaks, category: Node*, max: 10KiB}`.
  private static func rule(_ node: Node, _ name: String) throws(GateError) -> GateRule {
    let place = YAMLFile.place(node, name)
    do {
      if let text = node.scalar?.string { return try GateRule(text) }
      guard let mapping = node.mapping, let measure = mapping["measure"]?.string,
        let max = mapping["max"]?.scalar?.string
      else { throw GateError("a rule is 'leaks <= 0' or has 'measure' and 'max'") }
      var rule = try GateRule("\(measure)<=\(max)")
      for (key, value) in mapping where key.string != "measure" && key.string != "max" {
        try rule.scope.set(key.string ?? "", to: value.scalar?.string ?? "", in: measure)
      }
      try rule.checkScope(in: rule.text)
      return rule
    } catch {
      throw GateError("\(place): \(error)")
    }
  }
}

/// Values of a YAML file, with messages that say where.
enum YAMLFile {
  /// The first document; nil for an empty file.
  static func root(_ text: String, name: String) throws(GateError) -> Node? {
    do {
      // What a value is follows from its key; finding that out for each takes most of the time.
      return try compose(yaml: text, .basic)
    } catch let error as YamlError {
      if let line = conflictLine(in: text) {
        throw GateError("\(name):\(line): a merge has left its conflict here; settle it first")
      }
      let message = error.description.split(separator: "\n").map { String($0.trimmed) }
      throw GateError("\(name) is not YAML: \(message.joined(separator: " "))")
    } catch {
      throw GateError("\(name) is not YAML: \(error)")
    }
  }

  /// Where a version control system has written what it could not merge; nil for nowhere.
  private static func conflictLine(in text: String) -> Int? {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .firstIndex { $0.hasPrefix("<<<<<<< ") }
      .map { $0 + 1 }
  }

  /// `gate.yml:3`.
  static func place(_ node: Node, _ name: String) -> String {
    node.mark.map { "\(name):\($0.line)" } ?? name
  }

  /// A list; one value stands for a list of one.
  static func list(_ node: Node, _ key: String, _ name: String) throws(GateError) -> [Node] {
    if let sequence = node.sequence { return Array(sequence) }
    guard node.scalar != nil else {
      throw GateError("\(place(node, name)): '\(key)' takes a list")
    }
    return node.null == nil ? [node] : []
  }

  /// A mapping.
  static func mapping(
    _ node: Node, _ key: String, _ name: String
  ) throws(GateError) -> Node.Mapping {
    guard let mapping = node.mapping else {
      throw GateError("\(place(node, name)): '\(key)' takes KEY: VALUE lines")
    }
    return mapping
  }

  static func strings(_ node: Node, _ key: String, _ name: String) throws(GateError) -> [String] {
    var strings: [String] = []
    for item in try list(node, key, name) { strings.append(try string(item, key, name)) }
    return strings
  }

  static func string(_ node: Node, _ key: String, _ name: String) throws(GateError) -> String {
    guard let text = node.scalar?.string else {
      throw GateError("\(place(node, name)): '\(key)' takes a text")
    }
    return text
  }

  static func bool(_ node: Node, _ key: String, _ name: String) throws(GateError) -> Bool {
    guard let value = node.bool else {
      throw GateError("\(place(node, name)): '\(key)' takes true or false")
    }
    return value
  }

  static func number(_ node: Node, _ key: String, _ name: String) throws(GateError) -> UInt64 {
    guard let value = node.scalar.flatMap({ UInt64($0.string) }) else {
      throw GateError("\(place(node, name)): '\(key)' takes a number")
    }
    return value
  }

  /// Whether the first of two words was given.
  static func choice(
    _ node: Node, _ key: String, _ first: String, _ second: String, _ name: String
  ) throws(GateError) -> Bool {
    switch node.scalar?.string {
    case first: return true
    case second: return false
    default: throw GateError("\(place(node, name)): '\(key)' is \(first) or \(second)")
    }
  }
}
