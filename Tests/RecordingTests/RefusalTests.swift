import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// What cannot be recorded is said at once, with the reason, and not run.
@Suite struct RefusalTests {
  static let isRoot = getuid() == 0

  private func record(_ command: String...) throws -> (run: ProcessRun, folder: ScratchDirectory) {
    let folder = try ScratchDirectory()
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "--"] + command,
      environment: TracedRun.minimalEnvironment, directory: folder.path)
    return (run, folder)
  }

  @Test func staticExecutablesAreRefused() throws {
    let program = try TestProgram("table.c", flags: ["-static"])
    let (run, folder) = try record(program.path.string)
    #expect(run.status == 125)
    #expect(
      run.errorText == "memtrace: cannot record \(program.path): it is statically linked, "
        + "so that no library can be preloaded into it; what it runs can be recorded where a shell "
        + "runs it: sh -c '...'\n")
    #expect(folder.entries.isEmpty)
  }

  /// As the message above says.
  @Test func whatAStaticProgramRunsIsRecordedFromAShell() throws {
    let launcher = try TestProgram("launcher.c", flags: ["-static"])
    let program = try TestProgram("table.c")
    let run = try TracedRun(
      ["/bin/sh", "-c", "\"$0\" \"$1\"; exit $?", launcher.path.string, program.path.string],
      comparesErrors: false)
    #expect(try run.traces(of: program).count == 1)
    #expect(
      try run.root().coverage.childrenNotFollowed == [
        "\(launcher.path): statically linked: it has no loader that could preload anything"
      ])
  }

  @Test func addressSanitizerIsRefused() throws {
    let program = try TestProgram("table.c", flags: ["-fsanitize=address"])
    let (run, _) = try record(program.path.string)
    #expect(run.status == 125)
    #expect(run.errorText.contains("it is built with"))
    #expect(run.errorText.contains("record a build without it"))
  }

  /// What the library is called decides; there need be none.
  @Test func aSanitizerThatIsToBePreloadedIsRefused() throws {
    let program = try TestProgram("table.c").path.string
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "record", "--", program],
      environment: TracedRun.minimalEnvironment + ["LD_PRELOAD=/nonexistent/libasan.so.8"])
    #expect(run.status == 125)
    #expect(
      run.errorText.contains(
        "memtrace: cannot record \(program): /nonexistent/libasan.so.8, which LD_PRELOAD names, "
          + "is AddressSanitizer, which replaces the allocator itself\n"))
  }

  @Test(.enabled(if: isRoot, "only root may make a program of another user"))
  func setuidProgramsAreRefused() throws {
    let program = try TestProgram("table.c")
    let folder = try ScratchDirectory()
    let copy = folder.path.appending("setuid").string
    for command in [
      ["/bin/cp", program.path.string, copy], ["/bin/chown", "65534", copy],
      ["/bin/chmod", "4755", copy],
    ] {
      try #require(try ProcessRun.run(command).status == 0)
    }
    let (run, _) = try record(copy)
    #expect(run.status == 125)
    #expect(run.errorText.contains("it changes the user when it starts (setuid)"))
  }

  @Test func aScriptIsJudgedByItsInterpreter() throws {
    let interpreter = try TestProgram("table.c", flags: ["-static"])
    let folder = try ScratchDirectory()
    let script = folder.path.appending("script").string
    let made = try ProcessRun.run(
      ["/bin/sh", "-c", "printf '#!%s\\n' \"$1\" >\"$2\"; chmod +x \"$2\"", "sh"]
        + [interpreter.path.string, script])
    try #require(made.status == 0)
    let (run, _) = try record(script)
    #expect(run.status == 125)
    #expect(run.errorText.contains("cannot record \(interpreter.path): it is statically linked"))
  }

  @Test func anAllocatorOfItsOwnIsSaid() throws {
    let program = try TestProgram("own_allocator.c")
    let (run, _) = try record(program.path.string)
    #expect(run.status == 4)
    #expect(run.outputText == "done\n")
    #expect(run.errorText.contains("brings its own allocator along"))
  }

  @Test func anAllocatorOfItsOwnHasAReadableName() throws {
    let (run, _) = try record(try TestProgram("own_operators.cpp").path.string)
    #expect(run.errorText.contains("brings its own allocator along (own operator new); what"))
  }

  /// A library, libstdc++, allocates in its constructor, before the recorder's.
  @Test func anAllocatorOfItsOwnMaySetItselfUpBeforeTheRecorder() throws {
    let flags = ["-Wl,--no-as-needed", "-lstdc++"]
    let program = try TestProgram("own_allocator.c", flags: flags)
    let (run, _) = try record(program.path.string)
    #expect(run.status == 4)
    #expect(run.outputText == "done\n")
  }

  @Test func aChildThatCannotBeRecordedIsNoted() throws {
    let child = try TestProgram("table.c", flags: ["-static"])
    let run = try TracedRun(
      [try TestProgram("exec_other.c").path.string, child.path.string], comparesErrors: false)
    let parent = try run.root()

    #expect(try MarkedEvents(parent)[34001] == .init(allocated: 1, freed: 1))
    #expect(try MarkedEvents(parent)[34002] == .init(allocated: 1, freed: 1))
    let notes = try run.allTraces().flatMap(\.coverage.childrenNotFollowed)
    #expect(notes.contains { $0.contains(child.path.string) })
  }

  /// It would say that its runtime does not come first, and not run.
  @Test(arguments: ["execve", "execveat", "spawn", "spawnp", "fchdir"])
  func aSanitizedProgramIsSeenWhereverItIsNamedFrom(way: String) throws {
    let child = try TestProgram("table.c", flags: ["-fsanitize=address"])
    let folder = child.path.removingLastComponent().string
    let name = "./\(child.path.lastComponent!)"
    let run = try TracedRun(
      [try TestProgram("exec_relative.c").path.string, way, folder, name],
      environment: ["ASAN_OPTIONS=detect_leaks=0"])
    #expect(try MarkedEvents(try run.root())[45001] == .init(allocated: 1, freed: 1))
    let notes = try run.allTraces().flatMap(\.coverage.childrenNotFollowed)
    #expect(
      notes == ["\(name): built with a sanitizer, which has its own allocator"])
  }

  /// It would say that it does not come first, and not run.
  @Test func aProgramIntoWhichASanitizerIsPreloadedIsLeftAlone() throws {
    let found = try ProcessRun.run(["/usr/bin/env", "gcc", "-print-file-name=libasan.so"])
    let sanitizer = found.outputText.split(separator: "\n").first.map(String.init) ?? ""
    try #require(sanitizer.hasPrefix("/"))
    let program = try TestProgram("table.c").path.string
    let run = try TracedRun(
      ["/usr/bin/env", "LD_PRELOAD=\(sanitizer)", "ASAN_OPTIONS=detect_leaks=0", program])
    #expect(run.plain.status == 0)
    #expect(
      try run.root().coverage.childrenNotFollowed
        == ["\(program): run with a sanitizer (LD_PRELOAD), which has its own allocator"])
  }

  @Test(arguments: ["execve", "execveat", "spawn", "spawnp", "fchdir"])
  func aProgramIsRecordedWhereverItIsNamedFrom(way: String) throws {
    let child = try TestProgram("table.c")
    let folder = child.path.removingLastComponent().string
    let run = try TracedRun(
      [
        try TestProgram("exec_relative.c").path.string, way, folder,
        "./\(child.path.lastComponent!)",
      ])
    #expect(run.traces.count == 2)
    #expect(try run.traces(of: child).count == 1)
  }

  @Test func twoProcessesToldToWriteOneFileWriteTwo() throws {
    let program = try TestProgram("busy.c")
    let folder = try ScratchDirectory()
    let run = try ProcessRun.run(
      ["/bin/sh", "-c", "for i in 1 2 3 4; do \"$0\" 20000 & done; wait", program.path.string],
      environment: TracedRun.minimalEnvironment + [
        "LD_PRELOAD=\(BuiltProducts.library)",
        "MEMTRACE_OUTPUT=\(folder.path.appending("same.mtrace"))",
      ])
    #expect(run.status == 0)
    #expect(run.errorText.isEmpty)
    let traces = try folder.entries.map { try Trace(path: folder.path.appending($0)) }
    let own = traces.filter {
      FilePath($0.process.executablePath).lastComponent == program.path.lastComponent
    }
    #expect(own.count == 4)
    #expect(Set(own.map(\.header.pid)).count == 4)
    for trace in own {
      #expect(try MarkedEvents(trace)[30001] == .init(allocated: 1, freed: 0))
      #expect(trace.ending == .exit(0))
      #expect(trace.coverage.damage.isEmpty)
    }
  }
}
