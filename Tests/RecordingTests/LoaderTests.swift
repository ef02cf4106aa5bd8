import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// The dynamic linker run as a program: it runs another one, or only says what it would load.
@Suite struct LoaderTests {
  private static let loader =
    ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]
    .first { FileManager.default.fileExists(atPath: $0) }

  private static let canMakeNamespaces: Bool = {
    let run = try? ProcessRun.run(
      ["/usr/bin/unshare", "-Urm", "/bin/mount", "-t", "tmpfs", "none", "/proc"])
    return run?.status == 0
  }()

  /// The kernel says elsewhere what it was asked to execute; that may be a script, too.
  @Test(
    .enabled(if: canMakeNamespaces, "the kernel refuses namespaces here"),
    arguments: [("./program", true), ("./script", false)])
  func aProgramHasANameWhereNoProcIsMounted(command: String, isKnown: Bool) throws {
    let directory = try ScratchDirectory()
    let program = try TestProgram("endings.c", flags: ["-pthread"]).path
    let script = """
      cp "$1" program; printf '#!./program return\\n' >script; chmod +x script
      exec unshare -Urm /bin/sh -c 'mount -t tmpfs none /proc &&
        LD_PRELOAD=$2 MEMTRACE_OUTPUT=$PWD/root.mtrace exec $3 return' "$0" "$@"
      """
    _ = try ProcessRun.run(
      ["/bin/sh", "-c", script, "sh", program.string, BuiltProducts.library.string, command],
      environment: TracedRun.minimalEnvironment, directory: directory.path)
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    let path = directory.path.appending("program").string
    #expect(trace.process.executablePath == (isKnown ? path : ""))
    #expect(trace.images.images.first?.path == (isKnown ? path : ""))
  }

  @Test(.enabled(if: canMakeNamespaces, "the kernel refuses namespaces here"))
  func theLauncherFindsTheRecorderWhereNoProcIsMounted() throws {
    let directory = try ScratchDirectory()
    let program = try TestProgram("endings.c", flags: ["-pthread"]).path
    let script = """
      ln -s "$2" memtrace
      exec unshare -Urm /bin/sh -c 'mount -t tmpfs none /proc &&
        exec ./memtrace record -q -o root.mtrace -- "$1" return' "$0" "$1"
      """
    let run = try ProcessRun.run(
      ["/bin/sh", "-c", script, "sh", program.string, BuiltProducts.memtrace.string],
      environment: TracedRun.minimalEnvironment, directory: directory.path)
    #expect(run.errorText == "")
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    #expect(trace.process.executablePath == program.string)
  }

  @Test(arguments: [TracedRun.Start.launcher([]), .preload(["MEMTRACE_OUTPUT=root.mtrace"])])
  func aProgramThatTheLoaderRunsIsTheProgram(start: TracedRun.Start) throws {
    let program = try TestProgram("leaked_large.c")
    let run = try TracedRun([try #require(Self.loader), program.path.string], start: start)
    let root = try run.root()
    // Not the loader: its name stood for the frames of `main`, and its leaks do not count.
    #expect(root.process.executablePath == program.path.string)
    #expect(root.images.images.first?.path == program.path.string)

    let leaks = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "leaks", run.traces[0].string, "--format", "json"])
    let usual = try TracedRun([program.path.string])
    let expected = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "leaks", usual.traces[0].string, "--format", "json"])
    #expect(try leakCounts(leaks.outputText) == leakCounts(expected.outputText))
    #expect(try leakCounts(leaks.outputText).first != 0)
  }

  private func leakCounts(_ text: String) throws -> [Int] {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let leaked = try #require(object["leaked"] as? [String: Any])
    return try ["count", "bytes"].map { try #require(leaked[$0] as? Int) }
  }

  /// As of another distribution within this one, or one whose root a sandbox has made the own: the
  /// version that is taken from a copy of the loader here, its C library would not have.
  @Test(arguments: ["GLIBC_2.34", "GLIBC_2.33"])
  func aProgramWithAnOlderLibraryIsNotRecorded(version: String) throws {
    let directory = try ScratchDirectory()
    let loader = directory.path.appending("a-store-with-long-names-of-packages/ld-linux.so")
    var bytes = try Data(contentsOf: URL(filePath: try #require(Self.loader)))
    guard let place = bytes.range(of: Data("GLIBC_2.34\0".utf8)) else { return }
    bytes.replaceSubrange(place, with: Data("\(version)\0".utf8))
    try FileManager.default.createDirectory(
      atPath: loader.removingLastComponent().string, withIntermediateDirectories: true)
    #expect(
      FileManager.default.createFile(
        atPath: loader.string, contents: bytes, attributes: [.posixPermissions: 0o755]))
    let program = try TestProgram("table.c", flags: ["-Wl,--dynamic-linker=\(loader)"])

    let isOld = version != "GLIBC_2.34"
    for command in [[program.path.string], [loader.string, program.path.string]] {
      let child = try TracedRun(["/usr/bin/env"] + command)
      #expect(child.recorded.status == 0)
      #expect(child.traces.count == (isOld ? 1 : 2))
      let reason = "\(command[0]): its C library is older than libmemtrace.so needs"
      #expect(try child.root().coverage.childrenNotFollowed == (isOld ? [reason] : []))

      let root = try ProcessRun.run(
        [BuiltProducts.memtrace.string, "record", "--"] + command, directory: directory.path)
      #expect(root.status == (isOld ? 125 : 0))
      let refusal = """
        memtrace: cannot record \(command[0]): its C library (that of \(loader)) is older than \
        this recorder needs; build memtrace where that C library is\n
        """
      #expect(root.errorText == refusal || !isOld)
    }
  }

  @Test func aChildThatTheLoaderRunsIsRecorded() throws {
    let program = try TestProgram("table.c")
    let run = try TracedRun(
      ["/bin/sh", "-c", "\"$0\" \"$1\"; exit 3", try #require(Self.loader), program.path.string])
    #expect(try run.traces(of: program).count == 1)
    #expect(try run.allTraces().flatMap(\.coverage.childrenNotFollowed).isEmpty)
  }

  /// What ldd does; nothing runs then, and nothing is missing.
  @Test func aListOfLibrariesIsWithoutTheRecorder() throws {
    let program = try TestProgram("table.c").path.string
    let run = try TracedRun([
      "/bin/sh", "-c",
      "LD_TRACE_LOADED_OBJECTS=1 \"$0\" | sed 's/ (0x[0-9a-f]*)//'; exit 0", program,
    ])
    #expect(run.plain.outputText.contains("libc.so.6"))
    #expect(try run.allTraces().flatMap(\.coverage.childrenNotFollowed).isEmpty)
  }

  @Test(arguments: [
    ("--list", 0), ("--inhibit-cache --library-path /nowhere --list", 0), ("--argv0 --list", 1),
  ])
  func theLoaderItselfListsLibrariesWithoutTheRecorder(options: String, runs: Int) throws {
    let loader = "/lib64/ld-linux-x86-64.so.2"
    guard access(loader, X_OK) == 0 else { return }
    let program = try TestProgram("environment.c")
    let run = try TracedRun([
      "/bin/sh", "-c", "\(loader) \(options) \"$0\" | sed 's/ (0x[0-9a-f]*)//'; exit 0",
      program.path.string,
    ])
    #expect(run.plain.outputText.contains("libc.so.6") == (runs == 0))
    #expect(try run.traces(of: program).count == runs)
    #expect(try run.allTraces().flatMap(\.coverage.childrenNotFollowed).isEmpty)
  }

  /// GNU Common Lisp crashed, as its heap is set up by `main`: the loader allocates a message for each name
  /// that it cannot find.
  @Test func anAllocatorOfTheProgramIsNotCalledBeforeItsTime() throws {
    let run = try TracedRun([try TestProgram("late_allocator.c").path.string])
    #expect(run.recorded.outputText == "ready\n")
    #expect(try run.root().coverage.bypassed.contains { $0.hasPrefix("malloc: ") })
  }

  /// Each block that had the address of one that was freed looked freed twice.
  @Test func blocksOfTheCLibraryByAnotherNameAreNotFreedTwice() throws {
    let program = try TestProgram("counting_malloc.c", flags: ["-O1", "-fno-builtin"])
    let run = try TracedRun([program.path.string])
    #expect(run.recorded.outputText == "3\n")
    let traces = try run.allTraces()
    #expect(traces.filter { $0.header.flags.contains(.forked) }.count == 1)
    #expect(traces.count == 2)
    for trace in traces {
      let heap = try trace.replay()
      #expect(heap.coverage.bypassed == ["malloc: \(program.path.string)"])
      #expect(heap.coverage.mayMissAllocations)
      #expect(heap.errors.isEmpty)
    }
  }

  @Test func anAllocatorFunctionAloneIsNamedWhereItGoesPastTheRecorder() throws {
    let program = try TestProgram("zeroing.c", flags: ["-fno-builtin"])
    let heap = try TracedRun([program.path.string]).root().replay()
    #expect(heap.coverage.bypassed == ["calloc: \(program.path.string)"])
    #expect(heap.coverage.mayMissAllocations)
    #expect(heap.errors.isEmpty)
  }

  @Test func oneThatCallsMallocIsRecorded() throws {
    let program = try TestProgram("zeroing.c", flags: ["-fno-builtin", "-DBY_MALLOC"])
    let run = try TracedRun([program.path.string])
    #expect(try run.root().coverage.bypassed.isEmpty)
    #expect(try MarkedEvents(try run.root())[1001] == .init(allocated: 3, freed: 3))
  }
}
