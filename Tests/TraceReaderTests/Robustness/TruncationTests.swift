import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Cuts and damages a small trace at every single byte; the failure to look for is a trap.
@Suite struct TruncationTests {
  /// Far from any content one byte of padding is like the other.
  private func matters(_ position: Int, in bytes: [UInt8]) -> Bool {
    let before = max(0, position - 8)
    return position % 256 == 0 || bytes[before...position].contains { $0 != 0 }
  }

  @Test func traceCutAtAnyByteIsReadUpToThere() throws {
    let bytes = SampleTraces.small().bytes()
    let file = try TemporaryFile(bytes)
    let whole = try Exercise.run(file.path)
    #expect(whole.opened)
    let descriptor = try FileDescriptor.open(file.path, .readWrite)
    defer { try? descriptor.close() }
    let size = try descriptor.seek(offset: 0, from: .end)
    var last = whole
    for length in stride(from: size - 1, through: 0, by: -1) {
      guard matters(Int(length), in: bytes) else { continue }
      try descriptor.resize(to: length)
      let cut = try Exercise.run(file.path)
      #expect(cut.opened == (length >= 4096))
      #expect(cut.events <= last.events)
      #expect(cut.damaged == 0, "cut at \(length)")
      last = cut
    }
    #expect(last.events == 0)
  }

  /// As a full disk elsewhere, or a copy that is made anew, may do.
  @Test(arguments: [0, 1, 100, 4000])
  func aTraceThatIsCutWhileItIsReadSaysSo(left: Int64) throws {
    var builder = TraceBuilder()
    for index in 0..<2000 { builder.allocate(0x1000 + UInt64(index) * 64, 24, time: 10) }
    let file = try TemporaryFile(builder.bytes())
    let trace = try Trace(path: file.path)
    let whole = try trace.replay()
    #expect((whole.eventCount, whole.coverage.damageCount) == (2000, 0))
    let descriptor = try FileDescriptor.open(file.path, .readWrite)
    try descriptor.closeAfter { try descriptor.resize(to: 4096 + left) }
    let cut = try trace.replay()
    #expect(cut.eventCount < 2000)
    let reasons = Set(cut.coverage.damage.map(\.reason))
    #expect(reasons == ["the file became shorter while it was read"])
  }

  @Test(arguments: [0xff, 0x01, 0x80] as [UInt8])
  func anyDamagedByteIsSurvived(_ mask: UInt8) throws {
    let bytes = SampleTraces.small().bytes()
    let file = try TemporaryFile(bytes)
    let descriptor = try FileDescriptor.open(file.path, .readWrite)
    defer { try? descriptor.close() }
    for (position, byte) in bytes.enumerated() where matters(position, in: bytes) {
      try descriptor.writeAll(toAbsoluteOffset: Int64(position), [byte ^ mask])
      let exercise = try Exercise.run(file.path)
      #expect(exercise.events <= UInt64(bytes.count))
      try descriptor.writeAll(toAbsoluteOffset: Int64(position), [byte])
    }
    #expect(try Exercise.run(file.path).events > 0)
  }
}
