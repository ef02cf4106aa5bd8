#if canImport(Glibc)
  import Glibc
#endif

/// What the environment sets for tests with random input.
public enum FuzzSetting {
  /// The seed of the first iteration: `MEMTRACE_FUZZ_SEED`, or 1.
  public static var firstSeed: UInt64 { number("MEMTRACE_FUZZ_SEED") ?? 1 }

  /// How many iterations to make: `MEMTRACE_FUZZ_ITERATIONS`, or the given number.
  public static func iterations(default value: UInt64) -> UInt64 {
    number("MEMTRACE_FUZZ_ITERATIONS") ?? value
  }

  private static func number(_ variable: String) -> UInt64? {
    getenv(variable).flatMap { UInt64(String(cString: $0)) }
  }
}
