import LeakGate
import SystemPackage

/// What a gate is to demand: the options, over what the configuration file says.
struct GateSetup {
  /// What the file says, with the options over it.
  private(set) var configuration: GateConfiguration
  /// Which processes have to have the planted leak.
  let expectsCanary: Bool
  private(set) var baseline: Baseline?
  private(set) var suppressions = SuppressionSet()
  private let asksPrograms: Bool

  /// Reads the files that the options name.
  ///
  /// - Throws: ``CommandFailure`` for a file that cannot be read or is not understood.
  init(rules: GateRuleOptions, tolerated: BaselineOptions) throws {
    configuration = try Self.configuration(rules.config)
    if !rules.rules.isEmpty { configuration.rules += rules.rules }
    if rules.skipsDefaults { configuration.usesDefaultRules = false }
    if !rules.processes.isEmpty { configuration.processes = rules.processes }
    if rules.allowsUnmeasured { configuration.failsOnUnmeasured = false }
    if rules.allowsKilled { configuration.failsOnKilled = false }
    if let file = tolerated.baseline { configuration.baseline = file }
    if tolerated.failsOnStale { configuration.failsOnStale = true }
    configuration.suppressions += tolerated.suppressions
    expectsCanary = rules.canary
    asksPrograms = !tolerated.ignoresProgramSuppressions
    for file in configuration.suppressions {
      let text = try TextFile.read(file)
      try Self.checked { () throws(GateError) in try suppressions.add(text, name: file) }
    }
    if let file = configuration.baseline {
      // A baseline that is to be written for the first time is empty so far.
      if tolerated.updates, !FilePath(argument: file).exists {
        baseline = Baseline()
      } else {
        let text = try TextFile.read(file)
        baseline = try Self.checked { () throws(GateError) in
          try Baseline(yaml: text, name: file)
        }
      }
    } else if tolerated.updates {
      throw CommandFailure(
        "--update-baseline needs --baseline FILE, or 'baseline:' in the configuration",
        exitStatus: ExitStatus.usage)
    }
    // It would pass whatever happens.
    guard !self.rules.isEmpty else {
      throw CommandFailure(
        "without the default rules there is nothing to check; give a --rule",
        exitStatus: ExitStatus.usage)
    }
  }

  private static func configuration(_ file: String?) throws -> GateConfiguration {
    guard file != nil || FilePath(GateConfiguration.defaultName).exists else {
      return GateConfiguration()
    }
    let name = file ?? GateConfiguration.defaultName
    let text = try TextFile.read(name)
    return try checked { () throws(GateError) in try GateConfiguration(yaml: text, name: name) }
  }

  private static func checked<Value>(
    _ body: () throws(GateError) -> Value
  ) throws(CommandFailure) -> Value {
    do {
      return try body()
    } catch {
      throw CommandFailure(error.description, exitStatus: ExitStatus.usage)
    }
  }

  /// The rules with the defaults for what they do not speak of.
  var rules: [GateRule] {
    GateRule.rules(configuration.rules, withDefaults: configuration.usesDefaultRules)
  }

  /// Whether a rule speaks of mapped memory.
  var needsMappings: Bool { rules.contains { Measure.ofMappings.contains($0.measure) } }

  /// What measures a process.
  var measurer: ProcessMeasurer {
    var measurer = ProcessMeasurer(
      needs: Set(rules.map(\.measure)), patterns: configuration.processes,
      expectsCanary: expectsCanary)
    measurer.asksPrograms = asksPrograms
    measurer.allowsKilled = !configuration.failsOnKilled
    return measurer
  }
}
