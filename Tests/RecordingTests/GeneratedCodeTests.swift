#if arch(x86_64)
  import SystemPackage
  import Testing
  import TraceReader
  import TraceTestSupport

  /// Names of code that a program generated, of which the recorder knows addresses only.
  @Suite struct GeneratedCodeTests {
    private let folder: ScratchDirectory

    init() throws { folder = try ScratchDirectory() }

    private func run(_ words: [String]) throws -> String {
      let run = try ProcessRun.run(
        [BuiltProducts.memtrace.string] + words, environment: TracedRun.minimalEnvironment,
        directory: folder.path)
      #expect((run.status, run.errorText) == (0, ""))
      return run.outputText
    }

    /// Records the program, packs the trace, and removes its list; there and gone, so that no other
    /// process finds it.
    private func record(_ arguments: [String] = []) throws -> (plain: String, packed: String) {
      let program = try TestProgram("listed_code.c").path.string
      _ = try run(["record", "-q", "-o", "x.mtrace", "--", program] + arguments)
      let list = "/tmp/perf-\(try Trace(path: folder.path.appending("x.mtrace")).process.pid).map"
      defer { _ = try? ProcessRun.run(["/bin/rm", "-f", list]) }
      let plain = try run(["unfreed", "x.mtrace"])
      _ = try run(["pack", "-q", "x.mtrace"])
      _ = try ProcessRun.run(["/bin/rm", list])
      return (plain, try run(["unfreed", "x.mtrace.zst"]))
    }

    @Test func stacksHaveTheNamesThatTheProgramListed() throws {
      let (plain, packed) = try record()
      #expect(plain.contains("parse /srv/app.js:12:7"))
      #expect(plain.contains("45.90 KiB in 1 block from 1 stack"))
      #expect(packed.contains("parse /srv/app.js:12:7"))
    }

    @Test func codeThatIsNotListedHasAddresses() throws {
      let (plain, packed) = try record(["other"])
      #expect(!plain.contains("parse") && !packed.contains("parse"))
      #expect(plain.contains("0x7f") && packed.contains("0x7f"))
    }
  }
#endif
