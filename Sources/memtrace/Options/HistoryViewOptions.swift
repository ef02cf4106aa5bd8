import ArgumentParser

/// How the life of an address is looked at.
struct HistoryViewOptions: ParsableArguments {
  @Flag(help: "Show the stack of each event.")
  var stacks = false

  @OptionGroup var top: TopOptions
}
