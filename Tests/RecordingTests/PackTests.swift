import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Packed traces read like the plain ones, wherever they are.
@Suite struct PackTests {
  private static let reports: [[String]] =
    ["report", "allocations", "unfreed", "errors", "leaks", "heap"].flatMap {
      [[$0], [$0, "--format", "json"]]
    } + [
      ["allocations", "--call-tree"], ["allocations", "--blocks", "--lifespan", "all"],
      ["unfreed", "--format", "csv"], ["leaks", "--reference-tree"], ["history", "ADDRESS"],
      ["dump", "--kind", "event", "--kind", "stack", "--kind", "image", "--kind", "thread"],
    ]

  private func run(_ words: [String], in directory: FilePath) throws -> ProcessRun {
    try ProcessRun.run(
      [BuiltProducts.memtrace.string] + words,
      environment: TracedRun.minimalEnvironment + ["COLUMNS=100"], directory: directory)
  }

  /// What all reports print about a trace in a folder.
  private func texts(_ trace: String, address: String, in directory: FilePath) throws -> [String] {
    try Self.reports.map { words in
      let arguments = words.dropFirst().map { $0 == "ADDRESS" ? address : $0 }
      let run = try run([words[0], trace] + arguments, in: directory)
      #expect(run.status == 0, "\(words): \(run.errorText)")
      return run.outputText + run.errorText
    }
  }

  @Test func reportsAreTheSameWithoutTheProgramAndItsLibrary() throws {
    let folder = try ScratchDirectory()
    for (source, flags) in [("plugins.c", []), ("plugin.c", ["-shared", "-fPIC"])] {
      let built = try TestProgram(source, flags: flags)
      let copy = folder.path.appending(FilePath(source).stem ?? "")
      _ = try ProcessRun.run(["/bin/cp", built.path.string, copy.string])
    }
    let recording = try run(
      ["record", "-q", "-o", "x.mtrace", "--", "./plugins", "./plugin"], in: folder.path)
    #expect(recording.status == 0)
    let packing = try run(["pack", "-q", "x.mtrace"], in: folder.path)
    #expect(packing.errorText == "")
    let trace = try Trace(path: folder.path.appending("x.mtrace"))
    var address: Address?
    try trace.forEachEvent { _, event in
      if event.size == 19001 { address = event.address }
      return address == nil
    }
    let block = try #require(address).description
    let plain = try texts("x.mtrace", address: block, in: folder.path)
    #expect(plain.contains { $0.contains("plugin_allocate") && $0.contains("plugin.c:5") })
    // The same name, so that only the content of the file can make a difference.
    let elsewhere = try ScratchDirectory()
    _ = try ProcessRun.run(
      ["/bin/mv", "x.mtrace.zst", "\(elsewhere.path)/x.mtrace"], directory: folder.path)
    _ = try ProcessRun.run(["/bin/rm", "plugins", "plugin", "x.mtrace"], directory: folder.path)
    let packed = try texts("x.mtrace", address: block, in: elsewhere.path)
    for (plain, packed) in zip(plain, packed) { #expect(packed == plain) }
    let info = try run(["info", "x.mtrace"], in: elsewhere.path)
    #expect(info.outputText.contains(" packed, "))
    #expect(info.outputText.contains(" bytes per event\n"))
  }

  /// What the source tells of types is packed as well.
  @Test func typesAreTheSameWithoutTheSource() throws {
    let folder = try ScratchDirectory()
    let source = TestProgram.sources.appending("sizes.c").string
    let copying = try ProcessRun.run(
      ["/bin/cp", "-p", source, "sizes.c"], directory: folder.path)
    #expect(copying.status == 0)
    let building = try ProcessRun.run(
      ["/usr/bin/gcc", "-g", "sizes.c", "-o", "sizes"], directory: folder.path)
    #expect(building.status == 0)
    _ = try run(["record", "-q", "-o", "x.mtrace", "--", "./sizes"], in: folder.path)
    let plain = try run(["heap", "x.mtrace"], in: folder.path).outputText
    let classes = plain.split(separator: "\n").filter { $0.hasSuffix("  sizes") }.map {
      $0.split(separator: " ").filter { !$0.isEmpty }.dropLast(2).joined(separator: " ")
    }
    #expect(
      classes.sorted() == [
        "1 1,600 1,600.0 struct edge[]", "1 16 16.0 graph", "1 16 16.0 struct edge",
        "1 56 56.0 struct edge *[]", "3 144 48.0 struct session",
      ])
    _ = try run(["pack", "-q", "x.mtrace"], in: folder.path)
    let removing = try ProcessRun.run(
      ["/bin/sh", "-c", "rm sizes sizes.c && mv x.mtrace.zst x.mtrace"], directory: folder.path)
    #expect(removing.status == 0)
    #expect(try run(["heap", "x.mtrace"], in: folder.path).outputText == plain)
  }

  @Test func theVerdictIsTheSameWithoutTheProgramThatHidesLeaksItself() throws {
    let folder = try ScratchDirectory()
    let built = try TestProgram("suppressing.c")
    let program = folder.path.appending("program").string
    _ = try ProcessRun.run(["/bin/cp", built.path.string, program])
    _ = try run(["record", "-q", "-o", "x.mtrace", "--", program, "more"], in: folder.path)
    #expect(try run(["pack", "-q", "x.mtrace"], in: folder.path).errorText == "")
    let plain = try run(["check", "x.mtrace"], in: folder.path)
    #expect(plain.outputText.contains("Suppressed by: leak:load_plugins ("))
    #expect(plain.outputText.contains(" leaked_bytes=77 "))
    _ = try ProcessRun.run(["/bin/mv", "x.mtrace.zst", "x.mtrace"], directory: folder.path)
    _ = try ProcessRun.run(["/bin/rm", program])
    #expect(try run(["check", "x.mtrace"], in: folder.path).outputText == plain.outputText)
  }

  @Test(arguments: [
    ("leaks", "ROOT CYCLE: <leaks.Parent ", "kept"),
    ("settled", "ROOT CYCLE: <settled.Leaked ", "kept"),
    ("existentials", ": 48 leaks for ", "keeping"), ("nested_types", " [1].1 + ", "kept"),
    ("optional_structures", " error + ", "kept"),
  ])
  func leaksAreTheSameWithoutTheClassesAndVariablesOfTheProgram(
    _ name: String, _ leak: String, _ variable: String
  ) throws {
    let folder = try ScratchDirectory()
    let built = try TestProgram("\(name).swift", flags: ["-module-name", name])
    let program = folder.path.appending("program").string
    _ = try ProcessRun.run(["/bin/cp", built.path.string, program])
    _ = try run(["record", "-q", "-o", "x.mtrace", "--", program], in: folder.path)
    #expect(try run(["pack", "-q", "x.mtrace"], in: folder.path).errorText == "")
    let reports = [["leaks", "x.mtrace"], ["leaks", "x.mtrace", "--reference-tree"]]
    let plain = try reports.map { try run($0, in: folder.path).outputText }
    // Found only if the file says which references are unowned, or counted, how large values in an `Any` are, and what
    // the variables are called.
    #expect(plain[0].contains(leak))
    #expect(plain[1].contains("variable \(variable)"))
    _ = try ProcessRun.run(["/bin/mv", "x.mtrace.zst", "x.mtrace"], directory: folder.path)
    _ = try ProcessRun.run(["/bin/rm", program])
    let packed = try reports.map { try run($0, in: folder.path).outputText }
    #expect(packed == plain)
  }

  @Test(arguments: [("drop", "Variable static Shared.cursor.next in "), ("none", ": no pointers ")])
  func danglingPointersAreTheSameWithoutTheVariablesOfTheProgram(
    _ mode: String, _ text: String
  ) throws {
    let folder = try ScratchDirectory()
    let built = try TestProgram("dangling.swift", flags: ["-module-name", "app"])
    let program = folder.path.appending("program").string
    _ = try ProcessRun.run(["/bin/cp", built.path.string, program])
    _ = try run(["record", "-q", "-o", "x.mtrace", "--", program, mode], in: folder.path)
    #expect(try run(["pack", "-q", "x.mtrace"], in: folder.path).errorText == "")
    let plain = try run(["dangling", "x.mtrace"], in: folder.path).outputText
    #expect(plain.contains(text))
    _ = try ProcessRun.run(["/bin/mv", "x.mtrace.zst", "x.mtrace"], directory: folder.path)
    _ = try ProcessRun.run(["/bin/rm", program])
    #expect(try run(["dangling", "x.mtrace"], in: folder.path).outputText == plain)
  }

  /// Also of what `std::make_shared` allocates, and of classes that only blocks themselves tell.
  @Test(arguments: [["-O0"], ["-O2"]])
  func membersAreTheSameWithoutTheProgram(_ options: [String]) throws {
    let folder = try ScratchDirectory()
    let built = try TestProgram("leaks.cpp", flags: ["-pthread"] + options)
    let program = folder.path.appending("program").string
    _ = try ProcessRun.run(["/bin/cp", built.path.string, program])
    _ = try run(["record", "-q", "-o", "x.mtrace", "--", program], in: folder.path)
    #expect(try run(["pack", "-q", "x.mtrace"], in: folder.path).errorText == "")
    let report = ["leaks", "x.mtrace", "--top", "0"]
    let plain = try run(report, in: folder.path).outputText
    let members = plain.matches(of: /(\w+) \+ \d+ -->/).map { String($0.output.1) }
    #expect(Set(members).count >= 5, "\(members)")
    _ = try ProcessRun.run(["/bin/mv", "x.mtrace.zst", "x.mtrace"], directory: folder.path)
    _ = try ProcessRun.run(["/bin/rm", program])
    #expect(try run(report, in: folder.path).outputText == plain)
  }

  @Test func recordPackLeavesOnlyPackedTraces() throws {
    let program = try TestProgram("fork.c")
    let run = try TracedRun([program.path.string], start: .launcher(["--pack"]))
    #expect(run.traces.isEmpty)
    let names = run.directory.entries
    #expect(names.count == 2)
    #expect(names.allSatisfy { $0.hasSuffix(".mtrace.zst") })
    for name in names {
      let trace = try Trace(path: run.directory.path.appending(name))
      #expect(trace.isPacked)
      #expect(trace.coverage.damageCount == 0)
      #expect(try trace.replay().eventCount == trace.header.events)
    }
  }

  private static let canMakeNamespaces: Bool = {
    let run = try? ProcessRun.run(["/usr/bin/unshare", "-Urpf", "--mount-proc", "/bin/true"])
    return run?.status == 0
  }()

  /// In a namespace of its own a process has the number of another one.
  @Test(.enabled(if: canMakeNamespaces, "the kernel refuses namespaces here"))
  func processesThatHaveEndedInANamespaceArePacked() throws {
    let folder = try ScratchDirectory()
    let run = try run(
      [
        "record", "-q", "-o", "x.mtrace", "--pack", "--", "/usr/bin/unshare", "-Urpf",
        "--mount-proc", "/bin/sh", "-c", "/bin/true; /bin/true; exit 3",
      ], in: folder.path)
    #expect(run.status == 3)
    #expect(run.errorText == "")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path.string)
    #expect(names.filter { $0.hasSuffix(".mtrace") } == [])
    #expect(names.contains { $0.hasSuffix(".1.mtrace.zst") })
  }

  /// What a process in another namespace still writes is not taken away from it.
  @Test(.enabled(if: canMakeNamespaces, "the kernel refuses namespaces here"))
  func aProcessThatStillRunsInANamespaceKeepsItsTrace() throws {
    let folder = try ScratchDirectory()
    let input = folder.path.appending("input").string
    for name in ["input", "ready"] {
      #expect(mkfifo(folder.path.appending(name).string, 0o600) == 0)
    }
    // Reads from the pipe until this test closes it.
    let run = try run(
      [
        "record", "-q", "-o", "x.mtrace", "--pack", "--", "/bin/sh", "-c",
        """
        /usr/bin/unshare -Urpf --mount-proc /bin/sh -c 'read line <ready; read line <input; exit 0' \
            >/dev/null 2>&1 &
        echo go >ready
        """,
      ], in: folder.path)
    #expect(run.status == 0)
    #expect(run.errorText.contains(".1.mtrace is not packed: its process still runs\n"))
    let pipe = try FileDescriptor.open(FilePath(input), .writeOnly)
    try pipe.close()
  }

  @Test func theExitStatusIsTheProgramsAlsoWhenPackingFails() throws {
    let folder = try ScratchDirectory()
    // Where the packed trace belongs comes a directory while the command runs.
    let run = try run(
      [
        "record", "-o", "x.mtrace", "--pack", "--", "/bin/sh", "-c",
        "/bin/mkdir x.mtrace.zst; exit 3",
      ], in: folder.path)
    #expect(run.status == 3)
    #expect(run.errorText.contains("memtrace: x.mtrace is not packed and stays as it is: "))
    #expect(!(try Trace(path: folder.path.appending("x.mtrace"))).isPacked)
  }
}
