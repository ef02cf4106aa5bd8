import ArgumentParser

/// How much of a trace is told.
struct InfoViewOptions: ParsableArguments {
  @Flag(
    help: "List all threads, images, snapshots, marks, notes and traces, not only the first 20.")
  var all = false
}
