import ArgumentParser

/// How addresses become names, for every report with stacks.
struct SymbolOptions: ParsableArguments {
  @Flag(name: .customLong("full-names"), help: "Print names with all their template arguments.")
  var fullNames = false

  @OptionGroup var debugFiles: DebugFileOptions
}
