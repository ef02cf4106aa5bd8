import CTraceFormat
import SystemPackage
import Testing
import TraceTestSupport

@testable import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// Traces that a process still writes: this one has mapped them, as recorders do.
///
/// What it writes after the trace was opened has times that are still to come.
@Suite struct OngoingRecordingTests {
  /// A time that no clock comes to.
  private static let toCome = UInt64(1) << 62

  /// A trace of this process, without an end.
  private static func builder() -> TraceBuilder {
    var builder = TraceBuilder()
    builder.header.pid = UInt32(getpid())
    builder.header.endKind = MT_END_NONE.rawValue
    builder.header.flags.insert(.ticksAreNanoseconds)
    return builder
  }

  /// A block that one thread allocates and frees; then another one frees it that got it anew: the
  /// allocation came to a chunk that was read before.
  private static func halfRead() -> TraceBuilder {
    var builder = builder()
    builder.allocate(0x1000, 32, thread: 1, time: 2000)
    builder.free(0x1000, thread: 1, time: 2001)
    builder.allocate(0x2000, 48, thread: 2, time: 2002)
    builder.free(0x1000, thread: 2, time: toCome)
    builder.allocate(0x3000, 64, thread: 3, time: toCome + 1)
    return builder
  }

  /// Opens a trace while this process has it mapped.
  private static func openMapped(
    _ builder: TraceBuilder, protection: Int32 = PROT_READ | PROT_WRITE
  ) throws -> Trace {
    let file = try builder.write()
    let descriptor = try FileDescriptor.open(file.path, .readWrite)
    defer { try? descriptor.close() }
    let length = Int(MT_FILE_HEADER_SIZE)
    let mapping = mmap(nil, length, protection, MAP_SHARED, descriptor.rawValue, 0)
    try #require(mapping != MAP_FAILED)
    defer { munmap(mapping, length) }
    return try Trace(path: file.path)
  }

  @Test func whatIsWrittenAfterItWasOpenedIsLeftOut() throws {
    let trace = try Self.openMapped(Self.halfRead())
    #expect(trace.ending == .running)
    let result = try trace.replay()
    #expect(result.errorCounts == [:])
    #expect(result.coverage == Coverage())
    #expect(result.total.totalCount == 2)
    #expect(result.total.freedCount == 1)
  }

  @Test func ofAProcessThatIsGoneEverythingCounts() throws {
    let file = try Self.halfRead().write()
    let result = try withExtendedLifetime(file) { try Trace(path: file.path).replay() }
    #expect(result.errorCounts == [.doubleFree: 1])
    #expect(result.total.totalCount == 3)
  }

  @Test func soItDoesWhereAProcessOnlyReadsTheTrace() throws {
    let trace = try Self.openMapped(Self.halfRead(), protection: PROT_READ)
    #expect(try trace.replay().errorCounts == [.doubleFree: 1])
    #expect(trace.ending == .unknown)
  }

  @Test func soItDoesOnceTheEndIsWritten() throws {
    var builder = Self.halfRead()
    builder.header.endKind = MT_END_EXIT.rawValue
    #expect(try Self.openMapped(builder).replay().errorCounts == [.doubleFree: 1])
  }

  @Test func aSnapshotThatIsTakenMeanwhileIsLeftOut() throws {
    var builder = Self.builder()
    builder.allocate(0x1000, 32, time: 2000)
    builder.snapshot(SnapshotBuilder(time: 2001, reason: MT_SNAPSHOT_ON_REQUEST))
    builder.snapshot(SnapshotBuilder(time: Self.toCome, reason: MT_SNAPSHOT_ON_REQUEST))
    #expect(try Self.openMapped(builder).snapshots.map(\.time.rawValue) == [2001])
  }

  @Test func soAreRetainsAndReleases() throws {
    var builder = Self.builder()
    builder.count(.retain, 0x1000, count: 1, time: 2000)
    builder.count(.release, 0x1000, count: 0, time: Self.toCome)
    builder.count(.retain, 0x1000, count: 1, thread: 2, time: Self.toCome + 1)
    var times: [UInt64] = []
    let damage = try Self.openMapped(builder).forEachRefcount {
      times.append($0.time.rawValue)
      return true
    }
    #expect(times == [2000])
    #expect(damage == [])
  }

  /// In a container, the process that writes has two numbers or more, the outermost first.
  @Test func aProcessOfAContainerIsKnownByItsNumberThere() {
    let status = "Name:\tserver\nNSpid:\t4711\t19\t3\nNSpgid:\t4711\t19\t4\n"
    #expect(WritingProcess.isCalledInside(3, status: status))
    #expect(!WritingProcess.isCalledInside(19, status: status))
    #expect(!WritingProcess.isCalledInside(4, status: status))
    #expect(!WritingProcess.isCalledInside(3, status: "Name:\tserver\nNSpid:\t3\n"))
  }

  /// The header of a chunk is read before the records, among which its checksum has come meanwhile.
  @Test func aChunkThatIsFilledMeanwhileIsNoDamage() throws {
    var builder = Self.builder()
    builder.allocate(0x1000, 32, time: 2000)
    var checksum = ByteWriter()
    checksum.write(UInt64(1))  // The sequence of the chunk.
    checksum.write(UInt64(1))
    checksum.write(UInt64(2001))  // When its last event was, which its header does not say yet.
    checksum.write(UInt32(30))
    checksum.write(UInt32(0))
    builder.appendRecord(type: UInt16(MT_RECORD_CHECKSUM.rawValue), content: checksum.bytes)
    #expect(try Self.openMapped(builder).replay().coverage.damage == [])
    let file = try builder.write()
    let result = try withExtendedLifetime(file) { try Trace(path: file.path).replay() }
    #expect(
      result.coverage.damage.map(\.reason) == ["events do not match their checksum"])
  }
}
