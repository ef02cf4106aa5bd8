import ArgumentParser

/// The heap snapshot that reports that record a command can be given as well.
struct CrashSnapshotOptions: ParsableArguments {
  @Flag(
    help: """
      Take a heap snapshot, which tells leaks, before a signal ends a process, too, and note where \
      that was (handles SIGSEGV, SIGABRT, SIGTERM, SIGINT and the others that do).
      """)
  var snapshotOnCrash = false

  /// The options that were given, by name.
  var given: [String] { snapshotOnCrash ? ["--snapshot-on-crash"] : [] }
}
