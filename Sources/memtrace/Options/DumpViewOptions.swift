import ArgumentParser
import Reports

extension TraceDump.Kind: ExpressibleByArgument {}

/// Which records are printed.
struct DumpViewOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Only records of this kind; may be repeated.", valueName: "kind"))
  var kind: [TraceDump.Kind] = []

  @Option(help: ArgumentHelp("At most so many events; 0 for all.", valueName: "events"))
  var top = 0

  mutating func validate() throws {
    if top < 0 { throw ValidationError("--top takes 0 or more events, not \(top).") }
  }
}
