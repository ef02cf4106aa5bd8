import CTraceFormat
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct OpeningTests {
  @Test func missingFileIsAnInputError() throws {
    let error = #expect(throws: TraceError.self) { try Trace(path: "/nonexistent/a.mtrace") }
    #expect(error?.status == .io)
    #expect(error?.description.hasPrefix("/nonexistent/a.mtrace: cannot be opened: ") == true)
  }

  @Test func folderIsAnInputError() {
    #expect(throws: TraceError.self) { try Trace(path: "/") }
  }

  @Test func aPipeIsSaidToBeOne() throws {
    let pipe = try FileDescriptor.pipe()
    defer {
      try? pipe.readEnd.close()
      try? pipe.writeEnd.close()
    }
    let path = FilePath("/proc/self/fd/\(pipe.readEnd.rawValue)")
    let error = #expect(throws: TraceError.self) { try Trace(path: path) }
    #expect(error?.status == .io)
    #expect(
      error?.context == "is a pipe or a device, not a file; write the trace into a file first")
  }

  /// Whoever waits for a reader would take it for one, write, and be killed by SIGPIPE.
  @Test func aNamedPipeIsNotOpened() throws {
    let folder = try ScratchDirectory()
    let path = folder.path.appending("waiting")
    try #require(mkfifo(path.string, 0o600) == 0)
    let opened = FileDescriptor(rawValue: inotify_init1(Int32(IN_NONBLOCK)))
    defer { try? opened.close() }
    #expect(inotify_add_watch(opened.rawValue, path.string, UInt32(IN_OPEN)) >= 0)
    let error = #expect(throws: TraceError.self) { try Trace(path: path) }
    #expect(error?.context.hasPrefix("is a pipe or a device, not a file; ") == true)
    var notice = [UInt8](repeating: 0, count: 4096)
    #expect(throws: Errno.wouldBlock) {
      try notice.withUnsafeMutableBytes { try opened.read(into: $0) }
    }
  }

  @Test func emptyFileIsNoTrace() throws {
    #expect(try openingError([])?.status == .notATrace)
  }

  @Test func foreignFileIsNoTrace() throws {
    let error = try openingError(Array("hello\n".utf8))
    #expect(error?.status == .notATrace)
    #expect(error?.context == "is not a trace: it does not begin with MEMTRACE")
  }

  @Test(arguments: [
    ([0x7f, 0x45, 0x4c, 0x46, 2], "is a program, not a trace; "),
    (Array("#!/bin/sh\n".utf8), "is a script, not a trace; "),
    ([0x1f, 0x8b, 8], "is compressed by gzip: use gunzip first "),
    (Array("PK\u{3}\u{4}".utf8), "is compressed by zip: use unzip first "),
  ])
  func whatIsOftenTakenForATraceIsNamed(_ bytes: [UInt8], _ found: String) throws {
    let error = try openingError(bytes)
    #expect(error?.status == .notATrace)
    #expect(error?.context.hasPrefix(found) == true)
  }

  @Test(arguments: ["/dev/null", "/dev/zero"])
  func aDeviceIsSaidToBeOne(_ path: String) {
    let error = #expect(throws: TraceError.self) { try Trace(path: FilePath(path)) }
    #expect(error?.status == .io)
    #expect(error?.context.hasPrefix("is a pipe or a device, not a file; ") == true)
  }

  @Test func zerosAreNoTrace() throws {
    let error = try openingError(Array(repeating: 0, count: 8192))
    #expect(error?.status == .notATrace)
    #expect(error?.context.contains("never came to write its header") == true)
  }

  @Test func headerAloneIsAnEmptyTrace() throws {
    let result = try TraceBuilder().replay()
    #expect(result.eventCount == 0)
    #expect(result.sites.isEmpty)
    #expect(result.coverage == Coverage())
  }

  @Test func cutHeaderIsTruncated() throws {
    let error = try openingError(Array(TraceBuilder().bytes().prefix(100)))
    #expect(error?.status == .truncated)
    #expect(error?.offset == 100)
  }

  @Test func laterMajorVersionIsRefused() throws {
    var trace = TraceBuilder()
    (trace.header.major, trace.header.minor) = (3, 0)
    let error = try openingError(trace.bytes())
    #expect(error?.status == .unsupportedVersion)
    #expect(error?.context.contains("format version 3.0") == true)
  }

  @Test func laterMinorVersionIsRead() throws {
    var trace = TraceBuilder()
    trace.header.minor = 9
    trace.allocate(0x1000, 16)
    #expect(try trace.replay().total.totalCount == 1)
  }

  @Test(arguments: [
    (MT_END_EXIT.rawValue, TraceEnding.exit(255)), (MT_END_UEXIT.rawValue, .underscoreExit(255)),
    (MT_END_QUICK.rawValue, .quickExit(255)),
  ])
  func theStatusIsWhatOthersSee(kind: UInt32, ending: TraceEnding) throws {
    var trace = TraceBuilder()
    trace.header.endKind = kind
    trace.header.endStatus = -1
    try trace.open { #expect($0.ending == ending) }
  }

  @Test func headerFieldsAreDecoded() throws {
    var trace = TraceBuilder()
    trace.header.flags = [.forked, .follow]
    trace.header.parentTraceID = TraceID(low: 7, high: 9)
    trace.header.counters[0] = 3
    trace.header.counters[3] = 4
    trace.header.endKind = 6
    trace.header.endStatus = 9
    trace.header.addressSpaceLimitBytes = 1 << 30
    trace.header.cgroupLimitBytes = .max
    trace.process(
      executable: "/usr/bin/cat", directory: "/home", arguments: ["cat", "", "a b"])
    try trace.open { opened in
      #expect(opened.header.flags == [.forked, .follow])
      #expect(opened.process.parentTraceID == TraceID(low: 7, high: 9))
      #expect(opened.process.pid == 4711)
      #expect(opened.process.executablePath == "/usr/bin/cat")
      #expect(opened.process.name == "cat")
      #expect(opened.process.workingDirectory == "/home")
      #expect(opened.process.arguments == ["cat", "", "a b"])
      #expect(opened.coverage.eventsDropped == 3)
      #expect(opened.coverage.stacksCut == 4)
      #expect(opened.ending == .signal(9))
      #expect(opened.limits.availableBytes == 1 << 30)
    }
  }

  @Test func traceIDIsPrintedInTheOrderOfItsBytes() {
    let id = TraceID(low: 0x0807_0605_0403_0201, high: 0x100f_0e0d_0c0b_0a09)
    #expect(id.description == "0102030405060708090a0b0c0d0e0f10")
  }

  @Test func stopReasonIsDecoded() throws {
    var trace = TraceBuilder()
    trace.header.stopReason = 1
    trace.header.stopErrno = 28
    trace.header.stopTicks = 4096
    trace.header.tickShift = 4
    let stop = try #require(try trace.open { $0.coverage.stop })
    #expect(stop.cause == .diskFull)
    #expect(stop.errno == 28)
    #expect(stop.time == EventTime(256))
  }
}
