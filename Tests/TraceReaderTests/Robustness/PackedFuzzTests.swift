import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Replays randomly damaged packed traces, as `FuzzTests` does plain ones.
@Suite struct PackedFuzzTests {
  /// Most damage is found by the checksum of a frame: the whole trace in frames that are not
  /// compressed gets it as far as the chunks.
  @Test(arguments: [false, true])
  func damagedPackedTracesAreSurvived(isContentDamaged: Bool) throws {
    let samples = try (UInt64(0)..<8).map { seed -> [UInt8] in
      let builder =
        seed % 2 == 0 ? SampleTraces.random(seed: seed) : SampleTraces.predicted(seed: seed)
      let packed = try builder.packed(symbols: [Array(repeating: 3, count: 100)])
      return isContentDamaged ? try withTrace(packed) { try $0.unpacked().bytes } : packed
    }
    var opened = 0
    let iterations = FuzzSetting.iterations(default: 600)
    for seed in 1...max(1, iterations) {
      var damage = Damager(seed: seed)
      let bytes = damage.damaged(samples[Int(seed % UInt64(samples.count))])
      let file = try TemporaryFile(bytes)
      var exercise = Exercise()
      let time = try SpentResources.threadTime { exercise = try Exercise.run(file.path) }
      #expect(time < FuzzTests.greatestTime, "seed \(seed)")
      opened += exercise.opened ? 1 : 0
    }
    #expect(opened > 100)
  }

  @Test func aPackedTraceCutAnywhereIsReadUpToThere() throws {
    let packed = try SampleTraces.random(seed: 1).packed()
    let file = try TemporaryFile(packed)
    let descriptor = try FileDescriptor.open(file.path, .readWrite)
    defer { try? descriptor.close() }
    var last = try Exercise.run(file.path)
    #expect(last.opened)
    for length in stride(from: packed.count - 1, through: 0, by: -7) {
      try descriptor.resize(to: Int64(length))
      let cut = try Exercise.run(file.path)
      #expect(cut.events <= last.events)
      last = cut
    }
    #expect(last.events == 0)
  }
}
