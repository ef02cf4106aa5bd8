import Foundation
import Reports
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Processes that are attached to while they run.
@Suite(.serialized) struct AttachTests {
  /// A program that was started by itself, and what came of it.
  private struct Attached {
    let run: ProcessRun
    let directory: ScratchDirectory

    /// The trace that its commands have asked for.
    func trace(_ name: String = "root.mtrace") throws -> Trace {
      try Trace(path: directory.path.appending(name))
    }

    /// Lines of its output, with numbers that differ from run to run left out.
    var lines: [String] {
      run.outputText.split(separator: "\n").map {
        String($0).replacing(/process \d+/, with: "process P").replacing(
          /at \d\d:\d\d\.\d{3}\.\d{3} in .*root/, with: "at T in root")
      }
    }

    var errors: [String] {
      run.errorText.split(separator: "\n").map {
        String($0).replacing(/process \d+/, with: "process P")
      }
    }
  }

  /// Runs `attached.c`, or another program, with commands; `$M` is memtrace, `$P` the process.
  private func run(
    _ which: String, _ commands: String..., program: TestProgram? = nil, named name: String? = nil,
    plain: [String] = []
  ) throws -> Attached {
    let directory = try ScratchDirectory()
    let setup = "M='\(BuiltProducts.memtrace)'; P=$MARKED_PID; "
    var path = try (program ?? TestProgram("attached.c", flags: ["-pthread"])).path
    if let name {
      let copy = directory.path.appending(name)
      try FileManager.default.copyItem(atPath: path.string, toPath: copy.string)
      path = copy
    }
    let run = try ProcessRun.run(
      [path.string, which]
        + commands.map { setup + $0 } + plain,
      environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 120)
    #expect(!run.timedOut)
    return Attached(run: run, directory: directory)
  }

  /// Attaches, and leaves the recording on.
  private static let attach =
    "$M attach $P -o root.mtrace --for 1ms 2>&1 >attach.txt; $M resume $P >resume.txt"

  /// What `attached.c leaks` allocates.
  private func expectBlocks(
    _ trace: Trace, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let events = try MarkedEvents(trace)
    #expect(
      events.lives.keys.allSatisfy { !(21000...21999).contains($0) },
      sourceLocation: sourceLocation)
    for size in [31001, 31002, 31003, 31005, 31040] as [UInt64] {
      #expect(events[size] == .init(allocated: 1), sourceLocation: sourceLocation)
    }
    #expect(events[31006] == .init(allocated: 1, freed: 1), sourceLocation: sourceLocation)
    // "a text" by strdup, which is the C library's own call.
    #expect(events[7] == .init(allocated: 1, freed: 1), sourceLocation: sourceLocation)
    let result = try trace.replay()
    #expect(result.errors.isEmpty, sourceLocation: sourceLocation)
    #expect(result.coverage.unknownFrees == 0, sourceLocation: sourceLocation)
    #expect(result.coverage.implicitlyFreed == 0, sourceLocation: sourceLocation)
  }

  @Test func whatIsAllocatedMeanwhileIsRecorded() throws {
    let attached = try run(
      "outside", "$M attach $P -o root.mtrace --for 1ms --no-snapshot; $M resume $P",
      "$M pause $P; $M attach $P --for 1ms --no-snapshot; $M attach $P -o other.mtrace; true",
      program: MarkedProgram.program())
    #expect(
      attached.lines == [
        "the recording of process P resumed at T in root.mtrace",
        "the recording of process P paused at T in root.mtrace",
        "the recording of process P resumed at T in root.mtrace",
        "the recording of process P paused at T in root.mtrace",
        "the recording of process P resumed at T in root.mtrace",
        "the recording of process P paused at T in root.mtrace", "status 0",
      ])
    #expect(
      attached.errors.map { $0.replacing(/in .*root/, with: "in root") } == [
        "memtrace: next: memtrace report root.mtrace",
        "memtrace: next: memtrace report root.mtrace",
        "memtrace: process P is being recorded already, in root.mtrace; leave -o out",
      ])
    let trace = try attached.trace()
    let events = try MarkedEvents(trace)
    #expect(events[33001] == .init())
    #expect(events[33003] == .init(allocated: 20))
    #expect(events[33004] == .init())
    #expect(trace.windows?.count == 3)
    #expect(trace.ending == .exit(0))
    #expect(trace.coverage.damage.isEmpty && trace.coverage.bypassed.isEmpty)
    let note = try #require(trace.notes.first { $0.kind == .attached })
    #expect(note.value < 120_000_000_000)
  }

  @Test func leaksAreFound() throws {
    let attached = try run("leaks", Self.attach, "$M attach $P --for 1ms")
    #expect(attached.run.status == 5)
    #expect(attached.lines.last == "1")
    let trace = try attached.trace()
    #expect(trace.snapshots.map(\.reason) == [.request, .request, .exit(5)])
    let leaks = try LeakedProgram(trace).report
    #expect(leaks.leaked.bytes == 31001 + 31002)
    #expect(leaks.leaked.count == 2)
    #expect(leaks.possibleRowCount == 0)
    try expectBlocks(trace)
    let text = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "leaks", "root.mtrace"],
      environment: TracedRun.minimalEnvironment, directory: attached.directory.path)
    #expect(
      text.outputText.contains(
        /\nAttached to after [0-9.]+ m?s, recorded for .* in 2 parts; blocks allocated at other times are not known\.\n/
      ))
  }

  /// They had it before anybody could hear of it.
  @Test func threadsMayHaveASignalStackInCommon() throws {
    let attached = try run(
      "command",
      "$M attach $P -o root.mtrace --for 1ms >attach.txt 2>&1 && $M snapshot $P >snapshot.txt",
      program: try TestProgram("shared_signal_stacks.c", flags: TestProgram.withMarks))
    #expect(attached.lines == ["ok"])
    #expect(attached.run.status == 0)
    let snapshots = try attached.trace().snapshots
    #expect(snapshots.map(\.reason) == [.request, .request, .exit(0)])
    #expect(snapshots.dropLast().map(\.threads.count) == [25, 25])
  }

  /// All threads are in the allocator most of the time.
  @Test func busyThreadsGoOnAsTheyWere() throws {
    let program = try TestProgram("attached.c", flags: ["-O2", "-pthread"])
    let plain = try run("threads", "true", "true", program: program)
    let attached = try run(
      "threads", "$M attach $P -o root.mtrace --for 200ms >attach.txt 2>&1", program: program)
    #expect(attached.run.outputText == plain.run.outputText)
    #expect(attached.run.status == 5)
    let trace = try attached.trace()
    let events = try MarkedEvents(trace)
    #expect(events.count > 1000)
    #expect(events.unknownFrees == 0 && events.doubleOwners == 0)
    #expect(trace.snapshots.first?.isComplete == true)
    #expect(trace.coverage.damage.isEmpty && trace.coverage.bypassed.isEmpty)
    #expect(try trace.replay().errors.isEmpty)
  }

  @Test func callsThatWaitAreNotInterrupted() throws {
    let attached = try run(
      "waits", "$M attach $P -o root.mtrace --for 1ms --no-snapshot >attach.txt")
    #expect(attached.lines == ["0 interruptions"])
    #expect(attached.run.status == 5)
    #expect(try attached.trace().windows?.count == 1)
  }

  /// What is written to a slow reader would come short where its thread is stopped.
  @Test func whoWritesIsLeftAlone() throws {
    let program = try TestProgram("writes_on.c", flags: ["-pthread"])
    let attached = try run(
      "writes", "$M attach $P -o root.mtrace --for 1ms --no-snapshot >attach.txt",
      program: program)
    #expect(attached.lines == ["1048576 bytes written"])
    #expect(try attached.trace().windows?.count == 1)
  }

  @Test func callsWithoutALimitWaitOnDuringSnapshots() throws {
    let program = try TestProgram("long_waits.c", flags: ["-O1", "-pthread"])
    let attached = try run(
      "attached", "$M attach $P -o root.mtrace --for 1ms >attach.txt",
      "$M attach $P --for 1ms >again.txt", program: program)
    #expect(attached.lines == ["25 threads have waited"])
    #expect(attached.run.status == 5)
    #expect(try attached.trace().snapshots.map(\.reason) == [.request, .request, .exit(5)])
  }

  @Test func forkedChildrenAreRecordedAndExecutedProgramsAreNot() throws {
    let attached = try run("children", Self.attach)
    #expect(attached.lines.last == "preload: , 0")
    let names = try FileManager.default.contentsOfDirectory(atPath: attached.directory.path.string)
    let traces = try names.filter { $0.hasSuffix(".mtrace") }.map { try attached.trace($0) }
    let children = traces.filter { $0.header.flags.contains(.forked) && $0.ending == .exit(3) }
    try #require(children.count == 1)
    #expect(children[0].notes.contains { $0.kind == .attached })
    let events = try MarkedEvents(children[0])
    #expect(events[32001] == .init(allocated: 1, freed: 1))
    #expect(events[32002] == .init(allocated: 1))
    #expect(try LeakedProgram(children[0]).report.leaked.bytes == 32002)
    #expect(try MarkedEvents(attached.trace())[32003] == .init(allocated: 1))
  }

  @Test(arguments: ["attach $P --no-snapshot", "resume $P --for 1000s"])
  func whoIsKilledLeavesThePauseToTheProcess(command: String) throws {
    let attached = try run(
      "orphaned",
      """
      $M attach $P -o root.mtrace --for 1ms --no-snapshot >before.txt 2>&1
      ( $M \(command) >resumed.txt 2>&1 & echo $! >pid.txt
        wait $!; echo >ended.txt ) &
      until grep -qs resumed resumed.txt; do :; done
      """, "kill -9 $(cat pid.txt); until [ -s ended.txt ]; do :; done")
    #expect(attached.run.status == 5)
    let trace = try attached.trace()
    let events = try MarkedEvents(trace)
    #expect(events[31001] == .init(allocated: 1, freed: 1))
    #expect(events[21001] == .init())
    #expect(trace.windows?.count == 2)
    #expect(trace.windows?.last?.end != nil)
    #expect(events.doubleOwners == 0 && events.unknownFrees == 0)
  }

  /// A thread of the process is on its way then, with registers of ours.
  @Test func whoIsKilledWhileTheRecorderIsBroughtInLeavesItInOrder() throws {
    let attached = try run(
      "orphaned",
      """
      tracer() {
        while read name value; do
          if [ "$name" = TracerPid: ]; then tracer=$value; fi
        done </proc/$P/status
      }
      ( $M attach $P -o root.mtrace >attach.txt 2>&1 & echo $! >pid.txt; wait ) &
      until [ -s pid.txt ]; do :; done
      read pid <pid.txt; tracer
      until [ $tracer != 0 ] || [ -e root.mtrace ]; do tracer; done
      kill -9 $pid
      until [ $tracer = 0 ]; do tracer; done
      """, "")
    #expect(attached.run.status == 5)
    let trace = try attached.trace()
    // Paused as long as nobody lets it record.
    #expect(trace.windows?.filter { $0.end == nil }.count == 0)
  }

  @Test func childrenArePausedAtTheEndAsWell() throws {
    let attached = try run("lasting", Self.attach, "$M attach $P --for 1ms --no-snapshot")
    #expect(
      attached.lines.suffix(3) == [
        "the recording of process P is running already",
        "the recording of process P paused at T in root.mtrace",
        "paused as well: 1 of its children",
      ])
    let names = attached.directory.entries.filter { $0.hasSuffix(".mtrace") }
    let traces = try names.map { try attached.trace($0) }
    try #require(traces.count == 3)
    for trace in traces {
      let events = try MarkedEvents(trace)
      #expect(events.lives.keys.allSatisfy { !(21000...21999).contains($0) })
      switch trace.ending {
      case .underscoreExit(3):
        #expect(events[32001] == .init(allocated: 1))
        #expect(trace.windows?.count == 1)
        #expect(trace.windows?.last?.end != nil)
      case .underscoreExit(4): #expect(trace.windows?.isEmpty == true)
      default: #expect(trace.ending == .exit(5))
      }
    }
  }

  @Test func whatAnAllocatorHasBesideMallocIsRecorded() throws {
    let library = try TestProgram(
      "beside_allocator.c", flags: ["-shared", "-fPIC", "-Wl,-Bsymbolic"])
    let program = try TestProgram(
      "beside_malloc.c", flags: ["-Wl,--no-as-needed", library.path.string])
    let attached = try run(
      "attached", Self.attach.replacing("$P", with: "$PPID"), program: program)
    #expect(attached.run.status == 0)
    let trace = try attached.trace()
    let events = try MarkedEvents(trace)
    #expect(events[1071] == .init())
    #expect(events[1072] == .init(allocated: 10, freed: 10))
    #expect(events[2072] == .init(allocated: 10, freed: 10))
    #expect(trace.coverage.bypassed.isEmpty)
    #expect(try trace.replay().errors.isEmpty)
  }

  @Test func librariesThatAreOpenedLaterAreRecorded() throws {
    let library = try TestProgram("plugin.c", flags: ["-shared", "-fPIC"])
    let attached = try run("library", Self.attach, plain: [library.path.string])
    #expect(attached.run.status == 5)
    #expect(try MarkedEvents(attached.trace())[19001] == .init(allocated: 1, freed: 1))
  }

  @Test func aServerIsNamedByItsTitleAndItsTracesByItsFile() throws {
    let program = try TestProgram("attached.c", flags: ["-pthread"])
    let attach = "$M attach $P -o root.mtrace --for 50ms --no-snapshot >attach.txt 2>&1"
    let attached = try run("title", "\(attach); $M report root.mtrace", program: program)
    let text = attached.run.outputText
    #expect(text.hasPrefix("'server: of /srv/all clients' (pid "))
    let name = try #require(program.path.lastComponent?.string)
    let children = attached.directory.entries.filter { $0.hasPrefix("root.\(name).") }
    #expect(children.count == 1)
    // It lasts at least as long as it was recorded, though nothing happened.
    let lasted = try #require(text.firstMatch(of: /recorded in ([0-9.]+) ms\./))
    let recorded = try #require(text.firstMatch(of: /recorded for ([0-9.]+) ms;/))
    #expect(try #require(Double(lasted.1)) >= #require(Double(recorded.1)))
  }

  /// No other thread is in a place where it can be disturbed.
  @Test func aLibraryThatIsOpenedWhileAPlaceIsWaitedForIsSuchAPlace() throws {
    let library = try TestProgram(
      "late_library.c",
      flags: ["-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "-DLIBRARY"])
    let program = try TestProgram("late_library.c", flags: ["-pthread"])
    let attached = try run(
      library.path.string, "$M attach $P -o root.mtrace --for 1ms --no-snapshot >attach.txt",
      program: program)
    #expect(attached.run.status == 5)
    #expect(attached.errors == ["memtrace: next: memtrace report root.mtrace"])
    #expect(try attached.trace().windows?.count == 1)
  }

  /// The executable's entries stand for the functions that it imports.
  @Test func executablesAtFixedAddressesAreRecorded() throws {
    let program = try TestProgram("attached.c", flags: ["-no-pie", "-fno-pic", "-pthread"])
    let attached = try run("leaks", Self.attach, "$M attach $P --for 1ms", program: program)
    let trace = try attached.trace()
    #expect(trace.coverage.bypassed.isEmpty)
    try expectBlocks(trace)
  }

  /// The loader looks calls up when they are first made.
  @Test func callsThatWereNotMadeYetAreRecorded() throws {
    let program = try TestProgram("attached.c", flags: ["-Wl,-z,lazy", "-pthread"])
    let attached = try run("leaks", Self.attach, "$M attach $P --for 1ms", program: program)
    try expectBlocks(attached.trace())
  }

  @Test func aFileWithTwoLinesInItsNameIsFound() throws {
    let attached = try run("leaks", Self.attach, "$M attach $P --for 1ms", named: "two\nlines")
    try expectBlocks(attached.trace())
  }

  /// As by an update: what tells where a thread's callers are is read from memory then.
  @Test func aProcessWhoseFileIsGoneIsRecorded() throws {
    let program = try TestProgram("attached.c", flags: ["-DREMOVED", "-pthread"])
    let attached = try run(
      "leaks", "rm $(readlink /proc/$P/exe); \(Self.attach)", "$M attach $P --for 1ms",
      program: program)
    #expect(attached.run.status == 5)
    try expectBlocks(attached.trace())
  }

  @Test(arguments: [
    ("sampled", "--sample 1KiB"), ("shallow", "--depth 3"),
  ])
  func optionsAreTaken(_ name: String, _ options: String) throws {
    let attached = try run(
      "leaks",
      "$M attach $P -o root.mtrace --for 1ms \(options) >attach.txt; $M resume $P >resume.txt"
    )
    let trace = try attached.trace()
    #expect(trace.header.stackDepth == (name == "shallow" ? 3 : 128))
    #expect((trace.header.sampleInterval == 1024) == (name == "sampled"))
    #expect(trace.snapshots.isEmpty == (name == "sampled"))
  }

  // MARK: Containers

  private static let canMakeNamespaces: Bool = {
    let run = try? ProcessRun.run(
      ["/usr/bin/unshare", "-Urm", "/bin/mount", "-t", "tmpfs", "none", "/mnt"])
    return run?.status == 0
  }()

  /// The recorder is not there, and the trace is written to a folder that is there only.
  @Test(.enabled(if: canMakeNamespaces, "the kernel refuses namespaces here"))
  func aProcessInAContainerIsGivenACopyOfTheRecorder() throws {
    let directory = try ScratchDirectory()
    let program = try TestProgram("attached.c", flags: ["-pthread"])
    let stop = "echo >ready; read line <go"
    let script = """
      mkfifo ready go; mkdir inner
      unshare -Urm /bin/sh -c 'mount -t tmpfs none "$1" && mount -t tmpfs none inner &&
        exec "$2" leaks "$3" "$3"' sh "$1" "$2" "$3" &
      read line <ready
      "$4" attach $! -o inner/root.mtrace --for 1ms; "$4" resume $!
      echo >go; read line <ready
      "$4" attach $! --for 1ms; cp /proc/$!/root$PWD/inner/root.mtrace .
      echo >go; wait $!; echo $?; ls inner
      """
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", script, "sh", BuiltProducts.library.removingLastComponent().string,
        program.path.string, stop, BuiltProducts.memtrace.string,
      ],
      environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    #expect(run.outputText.hasSuffix("\n1\n5\n"))
    #expect(run.outputText.contains(/resumed at .* in \/proc\/\d+\/root\/.*\/inner\/root.mtrace\n/))
    let trace = try Trace(path: directory.path.appending("root.mtrace"))
    #expect(trace.snapshots.map(\.reason) == [.request, .request])
    let leaks = try LeakedProgram(trace).report
    #expect(leaks.leaked.bytes == 31001 + 31002)
    #expect(leaks.leaked.count == 2)
    try expectBlocks(trace)
  }

  /// The program is only where the container sees it.
  @Test(.enabled(if: canMakeNamespaces, "the kernel refuses namespaces here"))
  func namesOfAProcessInAContainerAreFoundThere() throws {
    let directory = try ScratchDirectory()
    let program = try TestProgram("attached.c", flags: ["-pthread"])
    let stop = "echo >/ready; read line </go"
    let script = """
      mkfifo ready go; mkdir root
      unshare -Urm /bin/sh -c 'mount -t tmpfs none root && cd root && mkdir usr proc opt tmp old &&
        ln -s usr/lib usr/lib64 usr/bin . && touch ready go && mount --bind ../ready ready &&
        mount --bind ../go go && mount --rbind /usr usr && mount --rbind /proc proc &&
        cp "$1" opt/app && /usr/sbin/pivot_root . old && umount -l old && exec /opt/app leaks "$2" "$2"' \
        sh "$1" "$2" &
      read line <ready
      "$3" attach $! -o /tmp/app.mtrace --for 1ms; "$3" resume $!
      echo >go; read line <ready
      "$3" unfreed /proc/$!/root/tmp/app.mtrace --sysroot /proc/$!/root
      "$3" unfreed /proc/$!/root/tmp/app.mtrace >/dev/null
      echo >go; wait $!
      """
    let run = try ProcessRun.run(
      [
        "/bin/sh", "-c", script, "sh", program.path.string, stop, BuiltProducts.memtrace.string,
      ],
      environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    #expect(run.outputText.contains("    leaks  attached.c:"), "\(run.errorText)")
    let errors = run.errorText.split(separator: "\n")
    #expect(
      errors.first?.wholeMatch(
        of: /memtrace: next: memtrace report .*app\.mtrace --sysroot \/proc\/\d+\/root/) != nil,
      "\(run.errorText)")
    #expect(errors.dropFirst().first?.hasPrefix("memtrace: /opt/app is gone") == true)
  }

  @Test(.enabled(if: canMakeNamespaces, "the kernel refuses namespaces here"))
  func aProcessInAContainerNeedsTheNameOfAFile() throws {
    let directory = try ScratchDirectory()
    let script = """
      mkfifo ready; mkdir inner
      unshare -Urm /bin/sh -c 'mount -t tmpfs none inner; echo >ready; exec sleep 60' &
      read line <ready; cd inner; "$1" attach $! --for 1ms; echo $?; kill $!
      """
    let run = try ProcessRun.run(
      ["/bin/sh", "-c", script, "sh", BuiltProducts.memtrace.string],
      environment: TracedRun.minimalEnvironment, directory: directory.path, timeout: 60)
    #expect(run.outputText == "64\n")
    #expect(
      run.errorText.replacing(/process \d+/, with: "process P")
        == "memtrace: process P has another working directory of this name, or none (in a "
        + "container?): name a file with -o, by its path there\n")
  }

  // MARK: What is left alone

  @Test func whatCannotBeRecordedGoesOn() throws {
    let refusals = try [
      (
        TestProgram("attached.c", flags: ["-static", "-pthread"]),
        "it is statically linked, so that no library can be loaded into it"
      ),
      (
        TestProgram("attached.c", flags: ["-rdynamic", "-pthread", "-DOWN_ALLOCATOR"]),
        "cannot record: the allocator is part of"
      ),
    ]
    for (program, reason) in refusals {
      let attached = try run("leaks", "$M attach $P -o root.mtrace --for 1ms", program: program)
      #expect(attached.run.status == 5)
      #expect(attached.lines == ["1"])
      let line = try #require(attached.errors.first)
      #expect(line.hasPrefix("memtrace: cannot attach to process P: \(reason)"), "\(line)")
      #expect(throws: TraceError.self) { try attached.trace() }
    }
  }

  @Test func aSecondAttemptWithAnotherFileSucceeds() throws {
    let attached = try run(
      "leaks",
      "mkdir gone; cd gone; rmdir ../gone; $M attach $P -o /proc/none/root.mtrace --for 1ms; cd ..; "
        + Self.attach)
    #expect(attached.errors.count == 1)
    #expect(try attached.trace().windows?.count == 2)
  }

  @Test func whatIsRecordedAllTheTimeCannotBeAttachedTo() throws {
    let (run, _) = try MarkedProgram.record("outside", "$M attach $P --for 1ms", "true")
    #expect(
      run.errorText.replacing(/process \d+/, with: "process P")
        .replacing(/in .*root/, with: "in root")
        == "memtrace: process P is being recorded already, in root.mtrace\n")
  }

  /// Whatever is said of the trace, it is the process that may not be looked at.
  @Test(
    .enabled(
      if: HostTests.isRoot && TestProgram.has("setpriv"), "only root can give up rights of root"))
  func whoMayNotLookIsToldSo() throws {
    let attach = "setpriv --bounding-set=-all --inh-caps=-all $M attach $P --for 1ms"
    let attached = try run("leaks", "\(attach); echo $?; \(attach) -o root.mtrace; echo $?")
    #expect(attached.lines == ["125", "125", "1"])
    let refusal =
      "memtrace: cannot attach to process P: the system does not let it be traced (ptrace); "
      + "start it with `memtrace record --paused`"
    #expect(attached.errors == [refusal, refusal])
    #expect(throws: TraceError.self) { try attached.trace() }
  }

  @Test func whoseFirstThreadHasEndedIsToldSo() throws {
    let program = try TestProgram("first_thread_ends.c", flags: ["-pthread"])
    let attached = try run(
      "leaks",
      """
      \(program.path) & Z=$!
      until grep -q zombie /proc/$Z/status; do :; done
      $M attach $Z; echo $?; kill $Z
      """)
    #expect(attached.lines == ["125", "1"])
    #expect(
      attached.errors.filter { $0.hasPrefix("memtrace:") } == [
        "memtrace: cannot attach to process P: its first thread has ended; start it with "
          + "`memtrace record`"
      ])
  }

  /// Whether filters of others may be looked at.
  private static let seesFilters =
    HostTests.isRoot
    && ((try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.contains("Seccomp:\t0")
      ?? false)

  /// One that forbids what the recorder has no use for, as those of containers, and one that ends who
  /// makes one of its calls.
  @Test(
    .enabled(if: seesFilters, "only root, itself under no filter, may look at others'"),
    arguments: [("ptrace", "0"), ("mincore", "125")])
  func filtersAreLookedAt(killsFor call: String, status: String) throws {
    let filter = try TestProgram("refuses_call.c", flags: ["-static"]).path.string
    let attached = try run(
      "leaks",
      """
      '\(filter)' kill \(call) /bin/sleep 1000 & Z=$!
      until [ "$(cat /proc/$Z/comm)" = sleep ]; do :; done
      $M attach $Z -o sleep.mtrace --for 1ms >/dev/null; echo $?
      kill $Z && wait $Z; echo $?
      """)
    #expect(attached.lines == [status, "143", "1"])
    let refusals = attached.errors.filter { $0.contains("cannot attach") }
    if status == "0" {
      #expect(refusals == [])
      #expect(try attached.trace("sleep.mtrace").snapshots.map(\.isComplete) == [true])
    } else {
      #expect(
        refusals == [
          "memtrace: cannot attach to process P: it is under seccomp, which may end it for system "
            + "calls of the recorder; start it with `memtrace record`"
        ])
    }
  }

  @Test func whoIsStoppedOrGoneIsNotWaitedFor() throws {
    let attached = try run(
      "leaks",
      "sleep 60 & kill -STOP $!; $M attach $! --for 1ms; echo $?; kill -KILL $!; "
        + "$M attach 999999999 --for 1ms; echo $?; $M attach $P --for soon; echo $?")
    #expect(attached.lines == ["125", "66", "64", "1"])
    let errors = attached.errors.filter { $0.hasPrefix("memtrace:") || $0.hasPrefix("Error:") }
    #expect(
      errors.map { $0.replacing(/CONT \d+/, with: "CONT P") } == [
        "memtrace: cannot attach to process P: it is stopped; let it go on first (kill -CONT P)",
        "memtrace: there is no process P",
        "Error: --for takes a time such as 30s or 500ms, not 'soon'.",
      ])
  }
}
