import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Replays randomly damaged traces: no trap, no hang, no memory over a bound.
///
/// Two thousand by default. `MEMTRACE_FUZZ_ITERATIONS=100000` runs more, `MEMTRACE_FUZZ_SEED`
/// starts from another seed. Iteration *n* has the seed *first + n*, so the seed that a failure
/// names can be pasted back with one iteration.
@Suite struct FuzzTests {
  /// No damaged trace may take longer to read, on the processor.
  static let greatestTime = Duration.seconds(10)
  /// All of them together may not need more memory, in bytes.
  static let greatestMemory = 256 << 20

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

  /// In a process of its own: its memory is that of these traces alone, and a trap is a failed test
  /// like others.
  @Test func damagedTracesAreSurvived() async throws {
    let seeds = try TemporaryFile([])
    let result = await #expect(processExitsWith: .success) { [path = seeds.path.string as String] in
      try Self.readDamaged(announcing: FilePath(path))
    }
    if result == nil {
      let last = try String(contentsOfFile: seeds.path.string, encoding: .utf8)
      Issue.record("the last seed was \(last)")
    }
  }

  private static func readDamaged(announcing path: FilePath) throws {
    let first = FuzzSetting.firstSeed
    let samples = try samples()
    let announced = try FileDescriptor.open(path, .writeOnly)
    let iterations = FuzzSetting.iterations(default: 2000)
    var opened: UInt64 = 0
    for seed in first..<first + iterations {
      var damage = Damager(seed: seed)
      let bytes = damage.damaged(samples[Int(seed % UInt64(samples.count))])
      // A trap leaves no time to say which seed it was.
      try announced.writeAll(toAbsoluteOffset: 0, "\(seed)".utf8)
      let file = try TemporaryFile(bytes)
      var exercise = Exercise()
      let time = try SpentResources.threadTime { exercise = try Exercise.run(file.path) }
      #expect(time < greatestTime, "seed \(seed)")
      #expect(exercise.events <= UInt64(bytes.count), "seed \(seed)")
      opened += exercise.opened ? 1 : 0
    }
    // Damage that lets nothing be read would test nothing.
    #expect(opened > iterations / 2)
    #expect(try #require(SpentResources.peakMemory()) < greatestMemory)
  }
}
