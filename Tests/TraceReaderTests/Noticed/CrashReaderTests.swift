import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

/// Where processes crashed, in traces made by hand.
@Suite struct CrashReaderTests {
  private func crash(
    _ access: MemoryAccess.Kind = .read, signal: Int32 = 11, thread: UInt32 = 1, time: UInt64
  ) -> Crash {
    Crash(
      access: access, address: 0x7fff_0000_0008, signal: signal, code: signal == 6 ? -6 : 1,
      thread: ThreadIndex(thread), stack: StackID(rawValue: 7), time: EventTime(time))
  }

  /// The crash of a process that ended so.
  private func last(
    of crashes: [Crash], _ kind: mt_end_kind = MT_END_SIGNAL, _ status: Int32 = 11
  ) throws -> Crash? {
    var builder = TraceBuilder()
    builder.header.endKind = UInt32(kind.rawValue)
    builder.header.endStatus = status
    for crash in crashes { builder.crash(crash) }
    let file = try builder.write()
    return try Trace(path: file.path).crash
  }

  @Test(arguments: [MemoryAccess.Kind.read, .write, .execute, .unknown])
  func aCrashComesBackAsItWasWritten(access: MemoryAccess.Kind) throws {
    let crash = crash(access, time: 2000)
    #expect(try last(of: [crash]) == crash)
  }

  @Test func theFirstOfSeveralThreadsCounts() throws {
    let crashes = [(1, 3000), (2, 2000), (3, 4000)].map {
      crash(thread: UInt32($0.0), time: UInt64($0.1))
    }
    #expect(try last(of: crashes) == crashes[1])
  }

  /// Whoever handles the signal of `abort` may go on.
  @Test func whatTheProcessSurvivedDoesNotCount() throws {
    let aborts = [2000, 3000].map { crash(.unknown, signal: 6, time: $0) }
    #expect(try last(of: aborts, MT_END_ABORT, 6) == aborts[1])
    #expect(try last(of: aborts, MT_END_SIGNAL, 6) == aborts[1])
    #expect(try last(of: aborts, MT_END_SIGNAL, 11) == nil)
    #expect(try last(of: aborts, MT_END_EXIT, 0) == nil)
    let fault = crash(time: 4000)
    #expect(try last(of: aborts + [fault]) == fault)
  }

  @Test func aRecordThatIsTooShortIsLeftOut() throws {
    var builder = TraceBuilder()
    (builder.header.endKind, builder.header.endStatus) = (UInt32(MT_END_SIGNAL.rawValue), 11)
    builder.appendRecord(
      type: UInt16(MT_RECORD_CRASH.rawValue), content: Array(repeating: 1, count: 32))
    let file = try builder.write()
    #expect(try Trace(path: file.path).crash == nil)
  }

  @Test func whereItsStackPointerWasComesBack() throws {
    var crash = crash(time: 2000)
    (crash.stackPointer, crash.isOutOfStack) = (0x7fff_0000_0010, true)
    #expect(try last(of: [crash]) == crash)
  }

  /// Offsets are from the stack pointer.
  @Test func theEndOfAStackIsTold() {
    func isOverflow(
      _ offset: Int64, _ access: MemoryAccess.Kind = .write, isOut: Bool = false, code: Int32 = 1,
      stackPointer: UInt64 = 0x7fff_0000_0000
    ) -> Bool {
      Crash(
        access: access, address: stackPointer &+ UInt64(bitPattern: offset), signal: 11, code: code,
        thread: ThreadIndex(1), stack: .none, time: EventTime(1), stackPointer: stackPointer,
        isOutOfStack: isOut
      ).isStackOverflow
    }
    #expect(isOverflow(-8))
    #expect(isOverflow(-8, .unknown, code: 2))
    #expect(isOverflow(-0x1_0000))
    #expect(!isOverflow(-0x1_0001))
    #expect(!isOverflow(16))
    #expect(isOverflow(16, isOut: true))
    #expect(isOverflow(0, .read, isOut: true))
    #expect(isOverflow(0x100_0000, isOut: true))
    #expect(!isOverflow(0x100_0001, isOut: true))
    #expect(!isOverflow(-8, .execute))
    #expect(!isOverflow(-8, code: 128))
    #expect(!isOverflow(-8, code: 0))
    #expect(!isOverflow(-8, stackPointer: 0))
  }
}
