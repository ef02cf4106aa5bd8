import ArgumentParser
import LeakGate

/// What is demanded, of whom.
struct GateRuleOptions: ParsableArguments {
  @Option(
    name: .customLong("rule"),
    help: ArgumentHelp(
      "A limit for each process, may be repeated: \(GateRule.forms). (default: no leak, no cycle, "
        + "no memory error)", valueName: "rule"),
    transform: Self.rule)
  var rules: [GateRule] = []

  @Flag(
    name: .customLong("no-default-rules"),
    help: "Check nothing but the rules given here and in the file.")
  var skipsDefaults = false

  @Option(
    name: .customLong("process"),
    help: ArgumentHelp(
      "Check processes of these programs only, by name, may be repeated; * and ? stand for other "
        + "text. (default: all but compilers, make, ctest, swift-test and their like)",
      valueName: "pattern"))
  var processes: [String] = []

  @Option(
    help: ArgumentHelp(
      "Read rules and more from this file. (default: \(GateConfiguration.defaultName), if it is "
        + "there)", valueName: "file"),
    completion: .file(extensions: ["yml"]))
  var config: String?

  @Flag(
    help: "Plant a leak in every process, and fail to measure where it is not found.")
  var canary = false

  @Flag(
    name: .customLong("allow-unmeasured"),
    help: "Pass although some processes could not be measured; they are listed all the same.")
  var allowsUnmeasured = false

  @Flag(
    name: .customLong("allow-killed"),
    help: "Demand no heap snapshot of processes that were killed, as tests of crashes do.")
  var allowsKilled = false

  @Sendable private static func rule(_ text: String) throws -> GateRule {
    do {
      return try GateRule(text)
    } catch {
      throw ValidationError("\(error).")
    }
  }
}

/// What is known and tolerated.
struct BaselineOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Tolerate the findings of this file, as far as their budgets go.", valueName: "file"),
    completion: .file(extensions: ["yml"]))
  var baseline: String?

  @Flag(
    name: .customLong("update-baseline"),
    help: "Write what was found into the baseline, which tolerates it from now on.")
  var updates = false

  @Flag(
    name: .customLong("fail-on-stale"),
    help: "Fail when an entry of the baseline matches nothing any more.")
  var failsOnStale = false

  @Option(
    name: .customLong("suppressions"),
    help: ArgumentHelp(
      "Hide what a file of LeakSanitizer or Valgrind hides; may be repeated.", valueName: "file"),
    completion: .file())
  var suppressions: [String] = []

  @Flag(
    name: .customLong("no-program-suppressions"),
    help: "Do not hide what programs hide from LeakSanitizer (__lsan_default_suppressions).")
  var ignoresProgramSuppressions = false
}

/// Where the verdict goes.
struct GateOutputOptions: ParsableArguments {
  /// One output: its form, and its file unless it is standard output.
  struct Target: Sendable, Hashable {
    var kind: GateOutputKind
    var file: String?
  }

  @Option(
    name: .customLong("output"),
    help: ArgumentHelp(
      "Write the verdict in this form, may be repeated: "
        + GateOutputKind.allCases.map(\.rawValue).joined(separator: ", ")
        + ". Without a file to standard output; 'summary' to $GITHUB_STEP_SUMMARY.",
      valueName: "kind[=file]"),
    completion: .list(GateOutputKind.allCases.map(\.rawValue)), transform: Self.target)
  var outputs: [Target] = []

  @Flag(help: "Print numbers of bytes with all digits instead of KiB and MiB.")
  var bytes = false

  @Option(
    name: .customLong("source-root"),
    help: ArgumentHelp(
      "Write paths relative to this folder. (default: that of the git repository around the "
        + "working directory)", valueName: "folder"),
    completion: .directory)
  var sourceRoot: String?

  @Option(
    help: ArgumentHelp("Keep the traces of the command in this folder.", valueName: "folder"),
    completion: .directory)
  var keep: String?

  @Sendable private static func target(_ text: String) throws -> Target {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let kind = GateOutputKind(rawValue: String(parts[0])) else {
      let kinds = GateOutputKind.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("There is no form '\(parts[0])'; the forms are \(kinds).")
    }
    let file = parts.count == 2 ? String(parts[1]) : nil
    if file?.isEmpty == true { throw ValidationError("'\(text)' names no file.") }
    return Target(kind: kind, file: file == "-" ? nil : file)
  }
}
