#if arch(x86_64)
  import Foundation
  import Symbolication
  import Testing
  import TraceReader
  import TraceTestSupport

  /// Stacks through code that is made at run time, comes and goes, or is interrupted: never a frame
  /// that is not there.
  @Suite struct StrangeCodeTests {
    /// The frames of blocks of a size; those of code in no image are `-`, in other images `.`.
    private static func frames(of size: UInt64, in run: TracedRun) throws -> Set<[String]> {
      let root = try run.root()
      let names = FrameNames(root)
      let lives = try #require(try MarkedEvents(root).lives[size])
      return Set(lives.map { names.names(of: $0.allocation.stack) })
    }

    @Test func codeMadeAtRunTimeIsFollowedByProvenFramePointersOnly() throws {
      let run = try TracedRun([try TestProgram("frameless.c").path.string])
      let start = [".", ".", "_start"]

      let whole = ["allocate", "-", "run", "main"] + start
      #expect(try Self.frames(of: 37001, in: run) == [whole])
      // Nothing shows that run's frame pointer is not the code's own: one frame is missing.
      #expect(try Self.frames(of: 37002, in: run) == [["allocate", "-", "main"] + start])
      for size in UInt64(37003)...37005 {
        #expect(
          try Self.frames(of: size, in: run) == [["allocate", "-", "callers not known"]], "\(size)")
      }
      #expect(
        try Self.frames(of: 37006, in: run) == [["allocate", "-", "-", "run", "main"] + start])
      #expect(try Self.frames(of: 37007, in: run) == [["allocate", "on_stack"]])
      #expect(try run.root().coverage.stacksRootless == 60)
    }

    @Test func codeWithoutTableIsFollowedByItsEpilogue() throws {
      let run = try TracedRun([
        try TestProgram("epilogues.c", flags: ["-fomit-frame-pointer"]).path.string
      ])
      let start = ["main", ".", ".", "_start"]

      #expect(try Self.frames(of: 39001, in: run) == [["allocate", "moving", "run"] + start])
      #expect(try Self.frames(of: 39002, in: run) == [["allocate", "saving", "run"] + start])
      #expect(
        try Self.frames(of: 39003, in: run) == [["allocate", "exported", "run_exported"] + start])
      #expect(
        try Self.frames(of: 39004, in: run) == [["allocate", "moving", "outer", "run"] + start])
      #expect(try Self.frames(of: 39007, in: run) == [["allocate", "near", "run_merged"] + start])
      #expect(
        try Self.frames(of: 39008, in: run) == [["allocate", "moving", "run_merged_far"] + start])
      #expect(try Self.frames(of: 39009, in: run) == [["allocate", "leaving", "run"] + start])
      #expect(try Self.frames(of: 39010, in: run) == [["allocate", "leaving_near", "run"] + start])
      for size in [UInt64(39005), 39006] {
        // What rbp holds there is no frame.
        #expect(
          try Self.frames(of: size, in: run) == [
            ["allocate", size == 39005 ? "loading" : "ending"]
          ])
      }
    }

    /// Of optimised deinitialisers swiftc writes no tables, and the last thing they do is to jump to
    /// the runtime.
    @Test func deinitializersOfOptimisedSwiftAreFollowedByTheirEpilogues() throws {
      let run = try TracedRun([try TestProgram("deinitializers.swift", flags: ["-O"]).path.string])
      let root = try run.root()
      let names = FrameNames(root)
      let lives = try #require(try MarkedEvents(root).lives[4048])
      let stacks = Set(
        lives.compactMap { life in
          life.deallocation.map { names.names(of: $0.stack).filter { $0 != "." } }
        })

      let start = ["run", "main", "_start"]
      let node = ["Node.deinit", "Node.__deallocating_deinit"]
      #expect(
        stacks == [
          ["Leaf.__deallocating_deinit"] + node + start,
          ["Leaf.__deallocating_deinit"] + node + node + start,
        ])
    }

    @Test func anImageWithoutAnyTableIsFollowedByEpilogues() throws {
      let flags = ["-O1", "-fomit-frame-pointer", "-Wl,--no-eh-frame-hdr"]
      let run = try TracedRun([try TestProgram("no_tables.c", flags: flags).path.string])
      #expect(
        try Self.frames(of: 44101, in: run) == [["allocate", "run", "main", ".", ".", "_start"]])
    }

    /// It is read out of the file, as no mapping holds it.
    @Test(arguments: [["-g"], ["-g", "-no-pie"], ["-g", "-gz"], ["-g0"]])
    func anImageWithTablesForDebuggersOnlyIsFollowedByThem(options: [String]) throws {
      let flags = ["-O2", "-fno-asynchronous-unwind-tables"] + options
      let run = try TracedRun([try TestProgram("debug_frame.c", flags: flags).path.string])
      #expect(run.recorded.outputText == "46001 0\n")
      let isReadable = !options.contains("-gz") && !options.contains("-g0")
      let whole = ["allocate", "leave", "run", "main", ".", ".", "_start"]
      let expected = isReadable ? whole : ["allocate", "leave", "callers not known"]

      #expect(try Self.frames(of: 46001, in: run) == [expected])
      // Without tables a frame pointer may lead past callers of code that keeps none.
      guard isReadable else { return }
      let child = try #require(
        try run.allTraces().first { $0.header.flags.contains(.forked) })
      let names = FrameNames(child)
      let life = try #require(try MarkedEvents(child).lives[46002]?.first)
      #expect(names.names(of: life.allocation.stack) == expected)
    }

    @Test func theCallersOfCThatGoCallsAreOnTheStackOfTheGoroutine() throws {
      let run = try TracedRun([try TestProgram("goroutines.c").path.string])
      let outermost = ["outermost", "goexit"]

      for (size, assembly) in [(UInt64(44001), "leave_by_16"), (44002, "leave_by_64")] {
        #expect(
          try Self.frames(of: size, in: run)
            == [["allocate", assembly, "waiting", "recurse"] + outermost])
      }
      #expect(
        try Self.frames(of: 44003, in: run)
          == [["allocate", "leave_by_16", "waiting", "recurse", "recurse"] + outermost])
      #expect(
        try Self.frames(of: 44004, in: run)
          == [["allocate", "leave_by_16", "waiting", "recurse", "outermost", "callers not known"]])
      // Nothing says where the frame that rbp pointed to has gone.
      #expect(
        try Self.frames(of: 44005, in: run)
          == [["allocate", "move_and_allocate", "leave_by_16", "waiting", "callers not known"]])
      let deep = try #require(try Self.frames(of: 44006, in: run).first)
      #expect(deep.starts(with: ["allocate", "leave_by_16", "waiting", "recurse"]))
      #expect(deep.suffix(3) == ["recurse"] + outermost)
      #expect(deep.count == 129)
    }

    /// Also where the tables of both are in their files only.
    @Test(arguments: [[], ["-O1", "-fno-asynchronous-unwind-tables"]])
    func anotherLibraryAtTheSameAddressHasItsOwnFrames(options: [String]) throws {
      let libraries = try ["1", "2"].map {
        try TestProgram("reloaded.c", flags: options + ["-shared", "-fPIC", "-DWHICH=\($0)"])
          .path.string
      }
      let run = try TracedRun([try TestProgram("reload.c").path.string] + libraries)
      #expect(run.recorded.outputText == "at the same address\n")
      let root = try run.root()
      let names = FrameNames(root, elsewhere: nil)

      for (size, function) in [(29001, "first_recurse"), (29002, "second_recurse")] {
        let lives = try #require(try MarkedEvents(root).lives[UInt64(size)])
        #expect(lives.count == 30)
        for life in lives {
          let frames = names.names(of: life.allocation.stack)
          #expect(
            Array(frames.prefix(7)) == Array(repeating: function, count: 6) + ["plugin_allocate"])
          #expect(frames[7] == "main")
        }
      }
    }

    /// The loader must not be asked meanwhile.
    ///
    /// A child would inherit its lock as taken. Libraries with destructors are closed only after a fork.
    @Test func librariesThatAreLoadedDuringAForkHaveTheirOwnFrames() throws {
      let libraries = try (1...2).map {
        try TestProgram(
          "reloaded.c", flags: ["-shared", "-fPIC", "-nostartfiles", "-DWHICH=\($0)"]
        ).path.string
      }
      let program = try TestProgram("reload_in_fork.c", flags: ["-pthread"])
      let run = try TracedRun([program.path.string] + libraries)
      #expect(run.recorded.outputText == "at the same address\n")
      let root = try run.root()
      let names = FrameNames(root, elsewhere: nil)
      #expect(root.images.images.filter { libraries.contains($0.path) }.count == 20)

      for (size, function) in [(29001, "first_recurse"), (29002, "second_recurse")] {
        let lives = try #require(try MarkedEvents(root).lives[UInt64(size)])
        #expect(lives.count == 10)
        for life in lives {
          let frames = names.names(of: life.allocation.stack)
          #expect(frames.prefix(6).allSatisfy { $0 == function })
          #expect(frames.dropFirst(6).first == "plugin_allocate")
        }
      }
    }

    /// A server that loads its plugins anew for each request.
    @Test func librariesMayBeLoadedAnyNumberOfTimes() throws {
      let libraries = try (1...2).map {
        try TestProgram("reloaded.c", flags: ["-shared", "-fPIC", "-DWHICH=\($0)"]).path.string
      }
      let run = try TracedRun([try TestProgram("reload.c").path.string] + libraries + ["4200"])
      let root = try run.root()
      #expect(root.coverage.imagesLost == 0)
      #expect(root.images.images.filter { libraries.contains($0.path) }.count == 4200)

      let names = FrameNames(root, elsewhere: nil)
      for (size, function) in [(29001, "first_recurse"), (29002, "second_recurse")] {
        let lives = try #require(try MarkedEvents(root).lives[UInt64(size)])
        #expect(lives.count == 2100)
        let last = try #require(lives.last)
        #expect(names.names(of: last.allocation.stack).first == function)
      }
    }

    @Test func handlersStandOnWhatTheyInterrupted() throws {
      let run = try TracedRun([try TestProgram("signals.c").path.string])
      let root = try run.root()
      let names = FrameNames(root)

      for (size, function) in [
        (18001, "allocate"), (18002, "allocate_on_alternate_stack"), (18003, "jump"),
      ] {
        for life in try #require(try MarkedEvents(root).lives[UInt64(size)]) {
          let frames = names.names(of: life.allocation.stack)
          #expect(frames.first == function)
          #expect(frames.suffix(4) == ["main", ".", ".", "_start"], "\(size): \(frames)")
        }
      }
    }

    /// What takes more room than is left there runs on a stack of the recorder's.
    @Test(arguments: [[], ["MEMTRACE_ZOMBIES=1048576"], ["MEMTRACE_GUARD=all"]])
    func handlersOnSmallStacks(variables: [String]) throws {
      let program = try TestProgram("small_signal_stack.c", flags: ["-pthread"])
      let run = try TracedRun([program.path.string], environment: variables)
      #expect(run.recorded.outputText == "all handled\n")
      #expect(run.recorded.status == 0)
      let root = try run.root()
      let lives = try #require(try MarkedEvents(root).lives[24001])
      #expect(lives.count == 9 * 50)
      let names = FrameNames(root)
      let whole = lives.filter { names.names(of: $0.allocation.stack).contains("interrupt") }
      // Where all of these stacks are taken, nobody says who called the handler.
      #expect(lives.allSatisfy { names.names(of: $0.allocation.stack).first == "handle" })
      #expect(whole.count >= 50)
    }

    /// As libunwind would have to read tables anew for each frame, each time.
    @Test(arguments: ["-O0", "-O2"])
    func framesThatAlignTheirStackAreFoundByRules(level: String) throws {
      let program = try TestProgram("aligned_frames.c", flags: [level])
      let run = try TracedRun([program.path.string])
      let root = try run.root()
      #expect(root.coverage.stacksLibunwind == 0)
      #expect(root.coverage.stacksRootless == 0)
      let lives = try #require(try MarkedEvents(root).lives[48_001])
      #expect(lives.count == 16 * 64)
      let names = FrameNames(root)
      let expected =
        ["leaf"] + [[String]](repeating: ["call", "aligned"], count: 7).joined()
        + ["main", ".", ".", "_start"]
      for life in lives {
        #expect(names.names(of: life.allocation.stack) == expected)
      }
      #expect(Set(lives.map(\.allocation.stack)).count == 1)
    }

    /// The first stack is libunwind's: it is beyond what is known to be stack by then.
    @Test func framesOfMegabytesAreFoundByRules() throws {
      let program = try TestProgram("large_frames.c", flags: ["-O2", "-fomit-frame-pointer"])
      let run = try TracedRun([program.path.string])
      let root = try run.root()
      #expect(root.coverage.stacksLibunwind <= 1)
      #expect(root.coverage.stacksRootless == 0)
      let lives = try #require(try MarkedEvents(root).lives[48_101])
      #expect(lives.count == 64)
      let names = FrameNames(root)
      let expected =
        ["leaf"] + [String](repeating: "large", count: 3) + ["main", ".", ".", "_start"]
      for life in lives {
        #expect(names.names(of: life.allocation.stack) == expected)
      }
    }

    @Test(
      "libunwind sees the same frames",
      arguments: [
        "stacks.c", "middle_frames.c", "aligned_frames.c", "large_frames.c",
        "signals.c", "exceptions.cpp", "threads.c",
        "thread_exit.cpp",
        "fork.c", "objects.swift", "entry_points.cpp",
      ])
    func libunwindSeesTheSame(source: String) throws {
      let run = try TracedRun(
        [try TestProgram(source).path.string], environment: ["MEMTRACE_UNWINDER=compare"],
        timeout: 300)
      for trace in try run.allTraces() {
        let coverage = trace.coverage
        // Nearly all, without those that libunwind alone takes and the second halves of `realloc`:
        // also the stacks that come back, of which memos would tell.
        let taken =
          coverage.stacksCompared + coverage.stacksLibunwind + coverage.stacksRootless
        #expect(taken >= trace.header.events / 10 * 9)
        #expect(coverage.stacksDifferent == 0)
        #expect(coverage.stacksGuessDifferent == 0)
      }
    }

    /// A table of more entries than there is room for is none; also where holes lie between the
    /// segments of the program, of which the loader tells one at a time.
    @Test(arguments: [[], ["-no-pie", "-Wl,-z,max-page-size=0x200000"]])
    func unwindTablesWithTooManyEntriesAreNotRead(flags: [String]) throws {
      let source = try TestProgram("epilogues.c", flags: ["-fomit-frame-pointer"] + flags)
      let directory = try ScratchDirectory()
      let program = directory.path.appending("damaged").string
      try FileManager.default.copyItem(atPath: source.path.string, toPath: program)
      try Self.overstateUnwindTable(of: program)

      let root = try TracedRun([program]).root()
      #expect(try MarkedEvents(root).lives[39001]?.count == 10)
    }

    /// Makes the search table of `.eh_frame_hdr` claim two billion entries.
    private static func overstateUnwindTable(of program: String) throws {
      var tables = try UnwindTables(of: program)
      tables.setWord(tables.header + 8, to: 0x7fff_ffff)
      try Data(tables.bytes).write(to: URL(filePath: program))
    }

    /// Unwind tables that lead out of the image, or nowhere, cost the program nothing but frames.
    @Test(arguments: UnwindTables.Damage.allCases)
    func damagedUnwindTablesAreNotFollowed(damage: UnwindTables.Damage) throws {
      let source = try TestProgram("epilogues.c", flags: ["-fomit-frame-pointer"])
      let directory = try ScratchDirectory()
      let program = directory.path.appending("damaged").string
      try FileManager.default.copyItem(atPath: source.path.string, toPath: program)
      var tables = try UnwindTables(of: program)
      tables.inflict(damage)
      try Data(tables.bytes).write(to: URL(filePath: program))

      let root = try TracedRun([program]).root()
      #expect(try MarkedEvents(root).lives[39001]?.count == 10)
      #expect(root.ending == .exit(0))
    }
  }
#endif
