import SystemPackage
import Testing
import TraceReader

@testable import memtrace

/// The launcher's parts, each on its own.
@Suite struct SupportTests {
  @Test func theRecorderComesFirstAndOthersAreKept() {
    let recording = RecordingEnvironment(
      library: "/opt/libmemtrace.so", output: "/tmp/x.mtrace", depth: 64, followsChildren: false,
      sessionID: SessionID(bytes: Array(0..<16)))
    let base = EnvironmentVariables([
      "A": "1", "LD_PRELOAD": "/a.so /b.so:/old/libmemtrace.so", "MEMTRACE_PARENT": "x", "B": "",
    ])

    let result = recording.applied(to: base)

    #expect(
      result.entries.map(\.text) == [
        "A=1", "LD_PRELOAD=/opt/libmemtrace.so:/a.so:/b.so", "B=",
        "MEMTRACE_OUTPUT=/tmp/x.mtrace", "MEMTRACE_DEPTH=64", "MEMTRACE_FOLLOW=0",
        "MEMTRACE_SESSION=000102030405060708090a0b0c0d0e0f", "MEMTRACE_LAUNCHED=1",
        "MEMTRACE_VERBOSE=1",
      ])
  }

  @Test func theEnvironmentKeepsWhatIsNoText() {
    var environment = EnvironmentVariables(entries: [
      CString(bytes: [0xff, 0x3d, 0xfe]), CString("no equals sign"), CString("A=1"), CString("A=2"),
    ])
    environment["A"] = "3"

    #expect(environment.entries[0].bytes == [0xff, 0x3d, 0xfe])
    #expect(environment.entries[1].text == "no equals sign")
    #expect(environment.entries[2].text == "A=3")
    #expect(environment.entries[3].text == "A=2")
  }

  @Test func theRecorderIsLookedForBesideTheExecutable() {
    let locator = PreloadLocator(override: nil, executable: "/usr/local/bin/memtrace")
    #expect(
      locator.candidates == [
        "/usr/local/bin/memtrace_memtrace.resources/libmemtrace.so",
        "/usr/local/lib/memtrace/libmemtrace.so", "/usr/local/lib/libmemtrace.so",
      ])
  }

  @Test func progressIsShownAfterASecondAndWhenItChanges() {
    var line = ProgressLine("Reading", isTerminal: true, now: 0)
    #expect(line.text(10, of: 100, now: 999_999_999) == nil)
    #expect(line.text(10, of: 100, now: 1_000_000_000) == "Reading: 10 %")
    #expect(line.text(10, of: 100, now: 2_000_000_000) == nil)
    #expect(line.text(200, of: 100, now: 2_000_000_000) == "Reading: 100 %")
    #expect(line.text(1, of: 0, now: 3_000_000_000) == nil)
  }

  @Test func signalsHaveNames() {
    #expect(RecordingSummary.describe(.killed(signal: 9)) == "was killed by signal 9 (SIGKILL)")
    #expect(RecordingSummary.describe(.killed(signal: 40)) == "was killed by signal 40")
  }

  /// Wherever a trace cannot be read, the status says why.
  @Test func errorsOfTracesHaveTheirStatuses() {
    #expect(CommandFailure(TraceError(.io, "cannot be opened")).exitStatus == 66)
    #expect(CommandFailure(TraceError(.notATrace, "is no trace")).exitStatus == 65)
  }

  @Test func endingsBecomeTheStatusesOfShells() {
    #expect(ProcessEnding.exited(3).exitStatus == 3)
    #expect(ProcessEnding.killed(signal: 15).exitStatus == 143)
  }
}
