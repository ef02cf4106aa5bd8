import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// The peak of resident memory, of real processes.
@Suite struct ResidentMemoryTests {
  /// What `resident.c` has at once, and less than what its code, the C library and the recorder take.
  private static let own: UInt64 = 256 << 20
  private static let rest: UInt64 = 32 << 20

  private func record(_ how: String) throws -> TracedRun {
    try TracedRun(
      [try TestProgram("resident.c", flags: ["-pthread"]).path.string, how], start: .launcher([]))
  }

  /// Of what is killed, too, which writes nothing at its end.
  @Test(arguments: ["exit", "kill"]) func itIsKnown(how: String) throws {
    let peak = try record(how).root().header.peakResident
    #expect(peak >= Self.own && peak < Self.own + Self.rest)
  }

  @Test func itIsNotThatOfTheProgramBefore() throws {
    let peaks = try record("exec").allTraces().map(\.header.peakResident)
    try #require(peaks.count == 2)
    #expect(peaks[0] >= Self.own)
    #expect(peaks[1] > 0 && peaks[1] < Self.rest)
  }

  /// A thread that does little takes little of the host's memory: 200 of them were 56 MiB when their
  /// tables were used whole.
  @Test func manyThreadsThatDoLittleTakeLittle() throws {
    let program = try TestProgram("many_threads.c", flags: ["-pthread"]).path.string
    let peak = try TracedRun([program], start: .launcher([])).root().header.peakResident
    #expect(peak > 0 && peak < 40 << 20)
  }
}
