import CTraceFormat
import Testing
import TraceTestSupport

@testable import TraceReader

/// Where processes crashed, in traces made by hand.
@Suite struct CrashReaderTests {
  private func crash(_ access: MemoryAccess.Kind, thread: UInt32, time: UInt64) -> Crash {
    Crash(
      access: access, address: 0x7fff_0000_0008, signal: 11,
      code: 1, thread: ThreadIndex(thread), stack: StackID(rawValue: 7), time: EventTime(time))
  }

  @Test(arguments: [MemoryAccess.Kind.read, .write, .execute, .unknown])
  func aCrashComesBackAsItWasWritten(access: MemoryAccess.Kind) throws {
    var builder = TraceBuilder()
    var abort = crash(access, thread: 1, time: 2000)
    abort.code = -6
    builder.crash(abort)
    let file = try builder.write()
    #expect(try Trace(path: file.path).crash == abort)
  }

  @Test func theFirstOfSeveralThreadsCounts() throws {
    var builder = TraceBuilder()
    let crashes = [(1, 3000), (2, 2000), (3, 4000)].map {
      crash(.read, thread: UInt32($0.0), time: UInt64($0.1))
    }
    for crash in crashes { builder.crash(crash) }
    let file = try builder.write()
    #expect(try Trace(path: file.path).crash == crashes[1])
  }

  @Test func aRecordThatIsTooShortIsLeftOut() throws {
    var builder = TraceBuilder()
    builder.appendRecord(
      type: UInt16(MT_RECORD_CRASH.rawValue), content: Array(repeating: 1, count: 32))
    let file = try builder.write()
    #expect(try Trace(path: file.path).crash == nil)
  }
}
