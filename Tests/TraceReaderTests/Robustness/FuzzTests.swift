import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// Replays randomly damaged traces: no trap, no hang, no memory over a bound.
///
/// Two thousand by default. `MEMTRACE_FUZZ_ITERATIONS=100000` runs more, `MEMTRACE_FUZZ_SEED`
/// starts from another seed. Iteration *n* has the seed *first + n*, so the seed that a failure
/// names can be pasted back with one iteration.
@Suite struct FuzzTests {
  /// No damaged trace may take longer to read.
  static let greatestTime = Duration.seconds(10)
  /// All of them together may not need more memory, in bytes.
  static let greatestMemory = 1 << 30

  /// Plain traces with all kinds of chunks, events in all encodings.
  private static func samples() throws -> [[UInt8]] {
    try (UInt64(0)..<8).flatMap { seed in
      let (plain, predicted) = (SampleTraces.random(seed: seed), SampleTraces.predicted(seed: seed))
      let columns = try withTrace(try predicted.packed(symbols: [[1, 2, 3]])) {
        try $0.unpacked().bytes
      }
      return [plain.bytes(), predicted.bytes(), columns]
    }
  }

  @Test func samplesHoldWhatIsToBeDamaged() throws {
    for bytes in try Self.samples() {
      let file = try TemporaryFile(bytes)
      let exercise = try Exercise.run(file.path)
      #expect(exercise.events > 400)
      #expect(exercise.frames > 0)
      #expect(exercise.words > 0)
      #expect(exercise.noticed > 3)
    }
  }

  @Test func damagedTracesAreSurvived() throws {
    let first = FuzzSetting.firstSeed
    let iterations = FuzzSetting.iterations(default: 2000)
    let samples = try Self.samples()
    let clock = ContinuousClock()
    let start = clock.now
    var (opened, events) = (0, UInt64(0))
    for seed in first..<first + iterations {
      var damage = Damager(seed: seed)
      let bytes = damage.damaged(samples[Int(seed % UInt64(samples.count))])
      Self.announce(seed)
      let file = try TemporaryFile(bytes)
      var exercise = Exercise()
      let time = try clock.measure { exercise = try Exercise.run(file.path) }
      #expect(time < Self.greatestTime, "seed \(seed)")
      #expect(exercise.events <= UInt64(bytes.count), "seed \(seed)")
      opened += exercise.opened ? 1 : 0
      events += exercise.events
    }
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #expect(usage.ru_maxrss * 1024 < Self.greatestMemory)
    print(
      "fuzz: seeds \(first)..<\(first + iterations), \(opened) opened, \(events) events,",
      "\(start.duration(to: clock.now)), \(usage.ru_maxrss) KiB resident at most")
  }

  /// A trap leaves no time to say which seed it was: it is in the environment of the dead process.
  private static func announce(_ seed: UInt64) {
    guard seed % 1000 == 0 else { return }
    setenv("MEMTRACE_FUZZ_AT", "\(seed)", 1)
  }
}
