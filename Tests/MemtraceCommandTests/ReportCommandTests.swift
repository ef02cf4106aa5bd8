import Foundation
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// The report commands of the built executable, on a trace made by hand.
@Suite struct ReportCommandTests {
  private let directory: ScratchDirectory
  private let trace: String

  init() throws {
    var builder = TraceBuilder()
    let stack = builder.stack([0x1010, 0x1000])
    builder.process(executable: "/opt/app/app", arguments: ["./app"])
    builder.thread(1, tid: 4711, name: "app")
    for index in UInt64(0)..<5 { builder.allocate(0x1_0000 + index * 1008, 1000, stack: stack) }
    for index in UInt64(0)..<15 { builder.allocate(0x2_0000 + index * 16, 12, stack: stack) }
    for index in UInt64(0)..<4 { builder.free(0x1_0000 + index * 1008, stack: stack) }
    for index in UInt64(0)..<10 { builder.free(0x2_0000 + index * 16, stack: stack) }
    directory = try ScratchDirectory()
    trace = directory.path.appending("app.mtrace").string
    try Data(builder.bytes()).write(to: URL(filePath: trace))
  }

  @Test func theTableGoesToStandardOutput() throws {
    let run = try memtrace("allocations", "app.mtrace", "--bytes", in: directory.path)
    #expect(run.status == 0)
    #expect(run.errorText == "")
    let rows = run.outputText.split(separator: "\n").suffix(3)
    #expect(
      rows.joined(separator: "\n") == """
        All Heap Allocations             1,060             6           14        5,180       20  ██░░░░░░░░
        Malloc-1008                      1,000             1            4        5,000        5  ██░░░░░░░░
        Malloc-16                           60             5           10          180       15  ███░░░░░░░
        """)
  }

  /// Folders of other times have names in Latin-1.
  @Test func filesMayHaveNamesThatAreNoUTF8() throws {
    let script = #"""
      name=$(printf 'caf\351'); mkdir $name; cp app.mtrace $name; mv app.mtrace $name/$name
      "$0" allocations $name/$name --format json -o $name/a.json
      "$0" allocations $name/$name --format json | cmp - $name/a.json && echo same
      "$0" check $name/ --baseline=$name/b.yml --update-baseline --allow-unmeasured \
        --output json=$name/c.json 2>&1
      "$0" pack $name/$name -o $name/d.mtracez && "$0" unpack $name/d.mtracez -o $name/d.mtrace
      TMPDIR=$name "$0" record -q -o $name/e.mtrace -- true
      TMPDIR=$name "$0" info -o $name/f.json -- true
      rm $name/app.mtrace; LC_ALL=C ls $name | tr '\n' ' '; ls
      """#
    let run = try ProcessRun.run(
      ["/bin/sh", "-c", script, BuiltProducts.memtrace.string], directory: directory.path)
    let lines = run.outputText.split(separator: "\n")
    #expect(lines.first == "same")
    let names = "a.json b.yml c.json caf\u{fffd} d.mtrace d.mtracez e.mtrace f.json"
    #expect(lines.last == "\(names) caf\u{fffd}")
  }

  @Test func theTableAsJSONIsADocument() throws {
    let run = try memtrace("allocations", trace, "--format", "json")
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(run.outputText.utf8)) as? [String: Any])
    #expect(document["schema"] as? String == "memtrace.allocations")
    let rows = try #require(document["rows"] as? [[String: Any]])
    #expect(rows.map { $0["name"] as? String } == ["Malloc-1008", "Malloc-16"])
    #expect(rows.map { $0["totalBytes"] as? Int } == [5000, 180])
  }

  @Test func aFileGetsTheReportInsteadOfStandardOutput() throws {
    let run = try memtrace(
      "unfreed", trace, "--format", "csv", "-o", "unfreed.csv", in: directory.path)
    #expect(run.status == 0)
    #expect(run.outputText == "")
    let file = directory.path.appending("unfreed.csv").string
    let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
    #expect(text.hasPrefix("Bytes,# Blocks,Sizes,"))
    #expect(text.contains("\r\n1060,6,5x12 1x1000,malloc,"))
  }

  @Test func aDashIsStandardOutput() throws {
    for command in ["report", "unfreed", "dump", "info"] {
      let run = try memtrace(command, trace, "-o", "-", in: directory.path)
      #expect(run.status == 0)
      #expect(run.outputText == (try memtrace(command, trace, in: directory.path)).outputText)
    }
    #expect(!FileManager.default.fileExists(atPath: directory.path.appending("-").string))
  }

  @Test func tracesDoNotGoToStandardOutput() throws {
    for words in [["pack", trace, "-o", "-"], ["record", "-o", "-", "--", "true"]] {
      let run = try memtrace(arguments: words, in: directory.path)
      #expect(run.status == 64)
      #expect(
        run.errorText
          == "memtrace: traces are not written to standard output; -o needs the name of a file\n")
    }
  }

  @Test(arguments: [
    ("leak", "near: leaks"), ("reprot", "near: report"), ("allocate", "memtrace --help lists them"),
    ("app.mtrace", "to read it: memtrace report app.mtrace"),
    ("./my app", "to record it: memtrace record -- './my app'"),
  ])
  func aWordThatIsNoCommandIsExplained(word: String, advice: String) throws {
    let run = try memtrace(word, "--once", in: directory.path)
    #expect(run.status == 64)
    #expect(run.errorText == "memtrace: there is no command '\(word)'; \(advice)\n")
  }

  @Test func whatABlockMustBeIsSaid() throws {
    let none = try memtrace("unfreed", trace, "--from", "10s", "--size", "1k-8k")
    #expect(none.status == 0)
    #expect(
      none.outputText.contains("\nOnly: allocated from 10.0 s on, sizes 1.00 KiB to 8.00 KiB\n"))
  }

  /// Whoever asks for a sample of what is recorded already would take the figures for one.
  @Test(arguments: [
    ("--depth", ["--depth", "5"]), ("--sample", ["--sample", "512KiB"]),
    ("--refcounts", ["--refcounts"]), ("--no-follow", ["--no-follow"]),
    ("--paused", ["--paused"]),
  ])
  func optionsOfARecordingAreRefusedForATrace(name: String, options: [String]) throws {
    for command in ["allocations", "info", "check"] {
      let run = try memtrace(arguments: [command, trace] + options, in: directory.path)
      #expect(run.status == 64)
      #expect(
        run.errorText
          == "memtrace: \(name) is for recording a command; \(trace) is recorded already: leave it "
          + "out, or record the command anew with it\n")
    }
  }

  @Test func aReportNeverReplacesATrace() throws {
    let run = try memtrace("report", trace, "-o", "app.mtrace", in: directory.path)
    #expect(run.status == 73)
    #expect(run.errorText == "memtrace: app.mtrace is a trace; give another file to -o\n")
    #expect((try memtrace("info", trace)).status == 0)
  }

  @Test(arguments: [
    ["report"], ["allocations"], ["allocations", "--call-tree"], ["allocations", "--blocks"],
    ["unfreed"], ["errors"], ["info"], ["dump"],
  ])
  func everyReportRuns(words: [String]) throws {
    let run = try runTool(words[0], [trace] + words.dropFirst())
    #expect(run.status == 0)
    #expect(run.errorText == "")
    #expect(!run.outputText.isEmpty)
  }

  @Test func aMomentShowsTheBlocksThatWereLiveThen() throws {
    let words = [trace, "--live-at", "100%"]
    let tree = try runTool("allocations", words + ["--call-tree", "--format", "csv"])
    #expect(tree.outputText.contains(",1060,6,"))
    let blocks = try runTool("allocations", words + ["--blocks", "--format", "csv"])
    #expect(blocks.outputText.split(separator: "\r\n").count == 1 + 6)
    let all = try runTool(
      "allocations", words + ["--blocks", "--lifespan", "all", "--format", "csv"])
    #expect(all.outputText.split(separator: "\r\n").count == 1 + 20)
  }

  @Test(arguments: [
    ([], "Allocations of "), (["--blocks"], "Allocations List of "),
    (["--call-tree"], "Call tree of the allocations of "),
  ])
  func theMomentIsNamed(view: [String], title: String) throws {
    for (time, moment) in [
      (["--live-at", "peak"], "the peak"), (["--live-at", "50%"], "50.0 %"),
      (["--to", "1s"], "the end of the time range"), ([], nil),
    ] {
      let text = try runTool("allocations", [trace] + time + view).outputText
      let headline = text.split(separator: "\n").first ?? ""
      #expect(headline.hasPrefix(title))
      #expect(headline.hasSuffix(moment.map { "), as of \($0)" } ?? ")"))
      let json = try runTool("allocations", [trace, "--format", "json"] + time + view).outputText
      let document = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
      #expect(document?["moment"] as? String == moment)
    }
  }

  @Test(arguments: [
    ["allocations", "--from", "2h"], ["allocations", "--live-at", "2h"],
    ["allocations", "--blocks", "--from", "2h"], ["allocations", "--call-tree", "--from", "2h"],
    ["unfreed", "--from", "2h"], ["generations", "--marks", "2h,3h"],
    ["generations", "--marks", "1ms", "--at", "2h", "--generation", "A"],
  ])
  func timesBehindTheEndAreTold(words: [String]) throws {
    let run = try runTool(words[0], [trace] + words.dropFirst())
    #expect(run.status == 0)
    #expect(
      run.outputText.split(separator: "\n").contains { $0.hasPrefix("The recording ends at") })
  }

  @Test func theHistoryOfAnAddressInsideABlock() throws {
    let run = try memtrace("history", trace, "0x20004", "--format", "csv")
    #expect(run.status == 0)
    #expect(run.outputText.split(separator: "\r\n").count == 3)
  }

  @Test(arguments: [
    (["allocations"], "Missing the trace to read, or a command to record after '--'."),
    (
      ["allocations", "--zombies", "x.mtrace"],
      "--zombies takes a number of bytes from 1 to 1TiB, such as 64MiB, not 'x.mtrace'."
    ),
    (
      ["leaks", "--redzones", "x.mtrace"],
      "--redzones takes a number of bytes from 1 to 4096, such as 16, not 'x.mtrace'."
    ),
    (
      ["info", "--guard", "x.mtrace"],
      "--guard takes up to 16 sizes and ranges of them, such as 24,100-200, or all, not 'x.mtrace'."
    ),
    (
      ["report", "--refcounts", "x.mtrace"],
      "--refcounts takes names of types, which 'x.mtrace' is not; for all types put it at the end, "
        + "or write --refcounts='*'."
    ),
    (["history", "x.mtrace"], "Missing the address behind 'x.mtrace', such as 0x7f12a0."),
    (
      ["history", "0x10"],
      "Missing the trace before '0x10', or a command to record after '--'."
    ),
    (["history", "0x10", "x.mtrace"], "Give the trace first: memtrace history x.mtrace 0x10"),
    (
      ["history", "--refcounts", "x.mtrace", "0x10"],
      "--refcounts takes names of types, which 'x.mtrace' is not; for all types put it at the end, "
        + "or write --refcounts='*'."
    ),
    (
      ["history", "--refcounts", "0x10", "--", "true"],
      "--refcounts takes names of types, which '0x10' is not; for all types put it at the end, or "
        + "write --refcounts='*'."
    ),
    (["history", "x.mtrace", "zz"], "'zz' is no address; an address looks like 0x7f12a0."),
    (["allocations", "x.mtrace", "--invert"], "--invert goes with --call-tree."),
    (
      ["allocations", "x.mtrace", "--blocks", "--group-by", "stack"],
      "--group-by is about the table and does not go with --blocks."
    ),
    (
      ["allocations", "x.mtrace", "--call-tree", "--columns", "total"],
      "--columns is about the table and does not go with --call-tree."
    ),
    (
      ["allocations", "x.mtrace", "--call-tree", "--wide"],
      "--wide is about the table and does not go with --call-tree."
    ),
    (
      ["allocations", "x.mtrace", "--blocks", "--sort", "name"],
      "--sort name does not go with --blocks: blocks come by time, or by size with persistent-bytes."
    ),
    (
      ["allocations", "x.mtrace", "--call-tree", "--sort", "persistent-bytes"],
      "--sort persistent-bytes does not go with --call-tree: a tree has no other order."
    ),
    (
      ["allocations", "x.mtrace", "--blocks", "--call-tree"],
      "Give --blocks or --call-tree, not both."
    ),
    (
      ["allocations", "x.mtrace", "--size", "8k-1k"],
      "The value '8k-1k' is invalid for '--size <range>': "
        + "a range of sizes looks like 1k-8k, 1024, 50k+ or -1024"
    ),
    (
      ["generations", "x.mtrace", "--every", "soon"],
      "The value 'soon' is invalid for '--every <time>': "
        + "a time from mark to mark looks like 5s, 200ms or 10%"
    ),
    (["generations", "x.mtrace", "--blocks"], "--blocks goes with --generation."),
    (
      ["generations", "x.mtrace", "--generation", "A", "--generations", "3"],
      "--generations is about all of them, not about 'A' alone."
    ),
    (
      ["generations", "x.mtrace", "--frames", "3"],
      "--frames goes with the stacks of one --generation."
    ),
    (
      ["generations", "x.mtrace", "--generation", "A", "--blocks", "--frames", "3"],
      "--frames goes with the stacks of one --generation."
    ),
    (
      ["generations", "x.mtrace", "--generation", "A", "--frames", "3", "--format", "csv"],
      "--frames is about the text; csv has whole stacks."
    ),
    (
      ["unfreed", "x.mtrace", "--frames", "3", "--format", "json"],
      "--frames is about the text; json has whole stacks."
    ),
    (
      ["errors", "x.mtrace", "--frames", "3", "--format", "csv"],
      "--frames is about the text; csv has whole stacks."
    ),
    (
      ["dangling", "x.mtrace", "--frames", "3", "--format", "json"],
      "--frames is about the text; json has whole stacks."
    ),
    (
      ["leaks", "x.mtrace", "--frames", "3", "--format", "json"],
      "--frames is about the text; json has whole stacks."
    ),
    (
      ["leaks", "x.mtrace", "--frames", "3", "--reference-tree"],
      "--frames does not go with --reference-tree, which shows no stacks."
    ),
    (
      ["allocations", "x.mtrace", "--columns", "total,,bar"],
      "The value 'total,,bar' is invalid for '--columns <columns>': there is no column ''; "
        + "there are persistent-bytes, persistent, transient, total-bytes, total, transient-bytes, "
        + "events, temporary, bar"
    ),
    (
      ["allocations", "x.mtrace", "--columns", "total", "--format", "csv"],
      "--columns is about the text; csv has all of them."
    ),
    (["mark", "1", "here", "--timeout", "5"], "--timeout goes with --snapshot."),
    (
      ["check", "x.mtrace", "--keep", "traces"],
      "--keep keeps the traces of a command; these are there already."
    ),
    (
      ["generations", "x.mtrace", "--generation", "A", "--blocks", "--call-tree"],
      "Give one of --blocks and --call-tree, not several."
    ),
    (["mark", "1", ""], "NAME has 1 to 1023 bytes, not 0."),
    (["mark", "0", "here"], "PID is a number above 0, not 0."),
    (
      ["mark", "some", "here"],
      "The value 'some' is invalid for '<pid>'"
    ),
    (["allocations", "x.mtrace", "--top=-1"], "--top takes 0 or more rows, not -1."),
    (
      ["report", "x.mtrace", "--debug-dir", "/nonexistent/x"],
      "--debug-dir: there is no folder '/nonexistent/x'."
    ),
    (["unfreed", "x.mtrace", "--frames", "0"], "--frames takes 1 or more frames, not 0."),
    (
      ["dump", "x.mtrace", "--format", "csv"],
      "The value 'csv' is invalid for '--format <form>'. Please provide one of 'text' and 'json'."
    ),
    (
      ["report", "--format", "csv", "--", "false"],
      "The value 'csv' is invalid for '--format <form>'. Please provide one of 'text' and 'json'."
    ),
    (
      ["diff", "x.mtrace", "y.mtrace", "--fail-on", "peak>>10"],
      "The value 'peak>>10' is invalid for '--fail-on <limit>': "
        + "'peak>>10': '>10' is no limit; it looks like 3, 10KiB, +3 or +5%."
    ),
    (
      ["diff", "x.mtrace", "y.mtrace", "--fail-on", "unfreed[image=app]>0"],
      "The value 'unfreed[image=app]>0' is invalid for '--fail-on <limit>': "
        + "'unfreed[image=app]>0': diff compares whole processes; leave the […] out."
    ),
    (
      ["heap", "x.mtrace", "--objects", "--format", "csv", "--sort", "bytes"],
      "--sort is about the classes; csv with --objects has the blocks, by address."
    ),
    (
      ["heap", "x.mtrace", "--objects", "--format", "csv", "--show-sizes"],
      "--show-sizes is about the classes; csv with --objects has the blocks, by address."
    ),
    (["dump", "x.mtrace", "--bytes"], "Unknown option '--bytes'"),
    (
      ["leaks", "x.mtrace", "-o", "a.HTML"],
      "'a.HTML': there is no form html here; there are text, json and csv, for --format."
    ),
    (
      ["report", "x.mtrace", "-o", "a.csv"],
      "'a.csv': there is no form csv here; there are text and json, for --format."
    ),
    (
      ["dump", "x.mtrace", "-o", "a.csv"],
      "'a.csv': there is no form csv here; there are text and json, for --format."
    ),
    (
      ["export", "x.mtrace", "-o", "a.svg"],
      "'a.svg': there is no form svg here; there are folded, html and pprof, for --format."
    ),
    (["unfreed", "--bites"], "Unknown option '--bites'"),
    (["check", "--format", "json", "--", "true"], "Unknown option '--format'"),
    (
      ["check", "x.mtrace", "--", "true"],
      "Give traces or a command, not both ('x.mtrace' and 'true')."
    ),
    (
      ["report", "x.mtrace", "--", "true"],
      "Give a trace or a command, not both ('x.mtrace' and 'true')."
    ),
  ])
  func badArgumentsAreExplained(words: [String], message: String) throws {
    let run = try runTool(words[0], Array(words.dropFirst()))
    #expect(run.status == 64)
    #expect(run.errorText.hasPrefix("Error: \(message)\n"))
  }

  @Test(arguments: [
    (
      ["--category", "Malloc-17"],
      "no category \"Malloc-17\" in this trace; near: Malloc-16, Malloc-1008"
    ),
    (["--thread", "main"], "no thread \"main\" in this trace; there is app"),
    (
      ["--category", "Malloc-16", "--size", "1000"],
      "no category \"Malloc-16\" in this part of the trace; near: Malloc-1008"
    ),
    (["--from", "2s", "--to", "1s"], "--from 00:02.000.000 is not before --to 00:01.000.000"),
  ])
  func namesThatFitNothingAreOneLine(options: [String], message: String) throws {
    let run = try runTool("allocations", [trace] + options)
    #expect(run.status == 64)
    #expect(run.errorText == "memtrace: \(message)\n")
    #expect(run.outputText == "")
  }

  /// One line each; what is there twice counts once, what cannot be read is told.
  @Test func theTracesOfAFolderAreListed() throws {
    try writeWorker()
    try FileManager.default.copyItem(atPath: trace, toPath: "\(directory.path)/copy.mtrace")
    try Data("MEMTRACE".utf8).write(to: URL(filePath: "\(directory.path)/cut.mtrace"))
    let links = FileManager.default
    try links.createSymbolicLink(
      atPath: "\(directory.path)/gone.mtrace", withDestinationPath: "nowhere")
    let run = try memtrace("report", ".", "--bytes", in: directory.path)
    #expect(run.errorText == "")
    #expect(run.status == 0)
    #expect(
      run.outputText == """
        2 traces in ., 1 with leaks or memory errors

        Process   PID  Ended     # Total   Peak  Unfreed   Leaked  Errors  Trace
        app      4711  status 0       20  5,180    1,060  unknown       0  app.mtrace
        worker   4712  no end          1  2,048        0  unknown       1  work er.mtrace

        Not listed: ./copy.mtrace is the same recording as ./app.mtrace
        Not listed: ./cut.mtrace: at byte 8: is cut inside its header, which is 4096 bytes long
        Not listed: ./gone.mtrace: cannot be opened: No such file or directory

        Next:
          memtrace report './work er.mtrace'  # 1 memory error
          memtrace check .                    # a verdict on all of them

        """)
    let document = try memtrace("report", directory.path.string, "--format", "json")
    #expect(document.outputText.contains("\"schema\" : \"memtrace.traces\""))
    #expect(document.outputText.contains("\"errorCount\" : 1,"))
    let check = try memtrace(
      "check", ".", "--no-default-rules", "--rule", "peak<=1MiB", in: directory.path)
    #expect(check.status == 87)
    let options = try memtrace("report", ".", "--depth", "3", in: directory.path)
    #expect(options.status == 64)
  }

  /// Adds the trace of a child that a process without a trace became.
  private func writeWorker() throws {
    var builder = TraceBuilder()
    (builder.header.pid, builder.header.ppid) = (4712, 4711)
    builder.header.traceID = TraceID(low: 7, high: 7)
    builder.header.parentTraceID = TraceID(low: 8, high: 8)
    builder.header.startWallNanoseconds += 1
    builder.header.endKind = 0
    builder.process(executable: "/opt/app/worker", arguments: ["worker"])
    builder.thread(1, tid: 4712)
    builder.allocate(0x1_0000, 2048)
    builder.free(0x1_0000)
    builder.free(0x1_0000)
    try Data(builder.bytes()).write(to: URL(filePath: "\(directory.path)/work er.mtrace"))
  }

  /// What a process became that was forked and did nothing else is a child, although its parent has no trace.
  @Test func whatAShellStartedInTheBackgroundIsItsChild() throws {
    try writeWorker()
    let run = try memtrace("info", trace)
    #expect(
      run.outputText.contains("\nChild:            \(directory.path)/work er.mtrace (pid 4712)\n"))
    let worker = try memtrace("info", "work er.mtrace", in: directory.path)
    #expect(worker.outputText.contains("\nParent:           app.mtrace (pid 4711)\n"))
  }

  @Test func aDirectoryAndAnEmptyNameAreNoTraces() throws {
    for words in [["allocations"], ["info"], ["dump"], ["pack"]] {
      let folder = try runTool(words[0], [directory.path.string])
      #expect(folder.status == 66)
      #expect(
        folder.errorText
          == "memtrace: \(directory.path): is a directory, not a trace; memtrace report lists those in it\n"
      )
    }
    let empty = try ScratchDirectory()
    let report = try memtrace("report", empty.path.string)
    #expect(report.status == 66)
    #expect(report.errorText == "memtrace: there is no trace in \(empty.path)\n")
    let nameless = try memtrace("info", "")
    #expect(nameless.status == 66)
    #expect(nameless.errorText == "memtrace: '': cannot be opened: No such file or directory\n")
  }

  @Test func aMissingTraceAndAForeignFileHaveStatusesOfTheirOwn() throws {
    #expect((try memtrace("report", "nothing.mtrace", in: directory.path)).status == 66)
    let foreign = try memtrace("report", "/etc/passwd")
    #expect(foreign.status == 65)
    #expect(foreign.errorText.split(separator: "\n").count == 1)
  }

  @Test func aReaderThatGoesAwayIsNoFailureWorthAMessage() throws {
    let pipeline = "\(BuiltProducts.memtrace.string) dump \(trace) | head -1"
    let run = try ProcessRun.run(["/bin/sh", "-c", pipeline])
    #expect(run.outputText.hasPrefix("HEADER "))
    #expect(run.errorText == "")
  }

  @Test func aFullDiskIsAFailure() throws {
    let pipeline = "\(BuiltProducts.memtrace.string) report \(trace) > /dev/full"
    let run = try ProcessRun.run(["/bin/sh", "-c", pipeline])
    #expect(run.status == 74)
    #expect(run.errorText.hasPrefix("memtrace: cannot write standard output: "))
  }

  private func runTool(_ command: String, _ arguments: [String]) throws -> ProcessRun {
    try ProcessRun.run(
      [BuiltProducts.memtrace.string, command] + arguments,
      environment: ["PATH=/usr/bin:/bin", "COLUMNS=80", "LANG=C"])
  }
}
