import SystemPackage
import TraceTestSupport

/// Runs the built executable with a fixed width of help texts.
///
/// - Parameters:
///   - arguments: What follows `memtrace`.
///   - directory: The working directory.
///   - environment: On top of a minimal environment.
/// - Returns: The finished run.
/// - Throws: `Errno` when it does not start.
func memtrace(
  _ arguments: String..., in directory: FilePath? = nil, environment: [String] = []
) throws -> ProcessRun {
  try memtrace(arguments: arguments, in: directory, environment: environment)
}

func memtrace(
  arguments: [String], in directory: FilePath? = nil, environment: [String] = []
) throws -> ProcessRun {
  try ProcessRun.run(
    [BuiltProducts.memtrace.string] + arguments,
    environment: ["PATH=/usr/bin:/bin", "COLUMNS=80", "LANG=C"] + environment,
    directory: directory)
}
