import Foundation
import Testing
import TraceReader
import TraceTestSupport

/// Retains and releases of compiled Swift programs.
@Suite struct RefcountTests {
  private static let builds = [["-Onone"], ["-O"], ["-O", "-static-stdlib"]]

  private func events(_ trace: Trace) -> [RefcountEvent] {
    var events: [RefcountEvent] = []
    #expect(
      trace.forEachRefcount {
        events.append($0); return true
      } == [])
    return events
  }

  private func record(
    _ argument: String, _ flags: [String], options: [String] = ["--refcounts"]
  ) throws -> TracedRun {
    let program = try TestProgram("refcounts.swift", flags: flags + ["-module-name", "app"])
    return try TracedRun([program.path.string, argument], start: .launcher(options))
  }

  /// A report on the trace of a run, as JSON.
  private func report(_ run: TracedRun, _ arguments: [String]) throws -> [String: Any] {
    let path = run.directory.path.appending("root.mtrace").string
    let text = try ProcessRun.run(
      [BuiltProducts.memtrace.string, arguments[0], path] + arguments.dropFirst()
        + ["--format", "json"]
    ).outputText
    return try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  private func frameNames(_ event: Any?) -> [String] {
    let frames = (event as? [String: Any])?["frames"] as? [[String: Any]] ?? []
    return frames.compactMap { $0["name"] as? String }
  }

  @Test(arguments: builds)
  func theRetainsThatMadeACycleAreNamed(flags: [String]) throws {
    let run = try record("cycle", flags)
    let document = try report(run, ["leaks"])
    let groups = try #require(document["treeGroups"] as? [[String: Any]])
    let trees = groups.flatMap { $0["trees"] as? [[[String: Any]]] ?? [] }
    #expect(document["rootCycleCount"] as? Int == 3)
    let lines = try #require(trees.first).filter { $0["counts"] != nil }
    #expect(lines.map { $0["name"] as? String } == ["app.Parent", "app.Child"])
    let counts = lines.map { $0["counts"] as? [String: Any] }
    #expect(counts.map { $0?["strong"] as? Int } == [1, 1])
    #expect(counts.map { $0?["unowned"] as? Int } == [1, 0])
    #expect(counts.map { $0?["weak"] as? Int } == [1, 0])
    for line in lines {
      let retainers = try #require(line["retainers"] as? [[String: Any]])
      #expect(retainers.count == 1)
      let frame = retainers.first?["responsible"] as? [String: Any]
      #expect(frame?["name"] as? String == "adopt(_:_:)")
    }
    let back = try #require(trees.first?.last)
    #expect(back["role"] as? String == "cycle-back-to" && back["field"] as? String == "parent")
  }

  /// No frame tells of `Unmanaged`, only the source does.
  ///
  /// At -O the retain goes with the last release.
  @Test(arguments: [["-Onone"], ["-Onone", "-static-stdlib"]])
  func theRetainByNameIsNamed(flags: [String]) throws {
    let run = try record("name", flags)
    let document = try report(run, ["leaks"])
    let groups = try #require(document["treeGroups"] as? [[String: Any]])
    let lines = groups.flatMap { $0["trees"] as? [[[String: Any]]] ?? [] }.flatMap { $0 }
    let number = try #require(lines.first { $0["name"] as? String == "app.Number" })
    let retainers = try #require(number["retainers"] as? [[String: Any]])
    #expect(retainers.count == 1)
    let frame = try #require(retainers.first?["responsible"] as? [String: Any])
    #expect(frame["name"] as? String == "retainByName()")
    let path = TestProgram.sources.appending("refcounts.swift").string
    let line = try String(contentsOfFile: path, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false
    )
    .firstIndex { $0.contains(").retain()") }
    #expect(frame["line"] as? Int == line.map { $0 + 1 })
  }

  /// The program may die of it, or not: what is left in the freed block decides.
  @Test(arguments: builds)
  func theFunctionThatReleasesTooOftenIsNamed(flags: [String]) throws {
    let program = try TestProgram("refcounts.swift", flags: flags + ["-module-name", "app"])
    let directory = try ScratchDirectory()
    let trace = directory.path.appending("root.mtrace")
    _ = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "record", "-q", "--refcounts=Number", "-o", trace.string,
        "--", program.path.string, "double",
      ],
      environment: TracedRun.minimalEnvironment + ["SWIFT_BACKTRACE=enable=no"])
    let text = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "errors", trace.string, "--format", "json"]
    ).outputText
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let error = try #require((document["errors"] as? [[String: Any]])?.first)
    #expect(error["kind"] as? String == "over-release")
    #expect((error["block"] as? [String: Any])?["category"] as? String == "app.Number")
    #expect((error["advice"] as? String ?? "").hasPrefix("releaseTooOften(_:) releases"))
    let unbalanced = try #require(error["unbalanced"] as? [Any])
    #expect(frameNames(unbalanced.first).contains("releaseTooOften(_:)"))
    #expect(frameNames(error["offending"]).contains("runNumbers()"))
  }

  /// The program may die of it, or not.
  @Test func theFunctionThatReleasesTheOwnerIsNamed() throws {
    let program = try TestProgram("owner_released.swift", flags: ["-module-name", "app"])
    let directory = try ScratchDirectory()
    let trace = directory.path.appending("root.mtrace")
    _ = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "record", "-q", "--refcounts", "-o", trace.string, "--",
        program.path.string,
      ],
      environment: TracedRun.minimalEnvironment + ["SWIFT_BACKTRACE=enable=no"])
    let text = try ProcessRun.run([BuiltProducts.memtrace.string, "errors", trace.string])
      .outputText
    #expect(text.contains("Retain of 0x"))
    #expect(text.contains("(String storage), which was freed before"))
    #expect(text.contains("uses an object that release() has released, by itself or with what"))
  }

  @Test(arguments: builds)
  func nothingIsLostWhenThreadsRetainAtOnce(flags: [String]) throws {
    let run = try record("storm", flags, options: ["--refcounts=Number"])
    let trace = try run.root()
    #expect(trace.coverage.refcountsLost == 0 && trace.coverage.damageCount == 0)
    let events = events(trace)
    var sums: [Address: Int64] = [:]
    for event in events { sums[event.object, default: 0] += event.change }
    // 4 threads, 20 000 rounds, two objects, at least a retain and a release each.
    #expect(events.count >= 4 * 20_000 * 2 * 2)
    // What is made with one reference ends with a release more than it has retains.
    for (object, sum) in sums {
      let ends = events.filter { $0.object == object && Int64($0.count) + $0.change == 0 }
      #expect(sum == -Int64(ends.count))
    }
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(Set(events.map(\.thread)).count >= 1)
    #expect(!events.contains { $0.stack == .none })
    var result = try trace.replay()
    trace.addOverreleases(to: &result)
    #expect(result.errors == [])
  }

  @Test(arguments: builds)
  func loadsOfWeakReferencesShowInTheCount(flags: [String]) throws {
    let run = try record("weak", flags, options: ["--refcounts=Parent"])
    let object = try #require(events(try run.root()).first?.object)
    let document = try report(run, ["history", "0x" + String(object.rawValue, radix: 16)])
    let entries = try #require(document["events"] as? [[String: Any]])
    let counts = entries.compactMap { $0["refcount"] as? [String: Any] }
    let implied = counts.filter { $0["isImplied"] as? Bool == true && $0["change"] as? Int == 1 }
    #expect(implied.count >= 10)
    #expect((document["unbalanced"] as? [Int]) == [])
  }

  @Test(arguments: builds)
  func onlyTheTypesThatWereAskedFor(flags: [String]) throws {
    let trace = try record("", flags, options: ["--refcounts=Other,Nothing*"]).root()
    let objects = Set(events(trace).map(\.object))
    #expect(objects.count == 1)
    let recording = try #require(trace.refcountRecording)
    #expect(recording.patterns == "Other,Nothing*" && recording.refusals == [])
    #expect(recording.runtimes.count == 1)
    let retained = events(trace).filter { $0.change > 0 }.count
    #expect(retained >= 100 && retained < 110)
  }

  @Test func withoutBeingAskedNothingIsRecorded() throws {
    let trace = try record("cycle", ["-O"], options: []).root()
    #expect(!trace.hasRefcounts && trace.refcountRecording == nil)
  }

  @Test func aStrippedRuntimeIsLeftAlone() throws {
    let program = try TestProgram(
      "refcounts.swift", flags: ["-O", "-static-stdlib", "-Xlinker", "-s", "-module-name", "app"])
    let run = try TracedRun(
      [program.path.string, "cycle"], start: .launcher(["--refcounts"]), comparesErrors: false)
    let trace = try run.root()
    #expect(!trace.hasRefcounts)
    let refusal = try #require(trace.coverage.refcountRefusals.first)
    #expect(refusal.contains("it has no symbols for its reference counting"))
    #expect(run.recorded.errorText.contains(refusal))
    #expect(run.recorded.errorText.split(separator: "\n").count == 1)
  }

  @Test func aProgramWithoutSwiftHasNone() throws {
    let run = try TracedRun(
      [try TestProgram("table.c").path.string], start: .launcher(["--refcounts"]))
    let trace = try run.root()
    #expect(trace.refcountRecording == RefcountRecording(patterns: "1"))
    #expect(!trace.hasRefcounts)
  }

  @Test func aPackedTraceKeepsThem() throws {
    let run = try record("cycle", ["-O"])
    let (plain, packed) = (
      run.directory.path.appending("root.mtrace"), run.directory.path.appending("packed.zst")
    )
    let result = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "pack", plain.string, "-o", packed.string])
    #expect(result.status == 0)
    #expect(events(try Trace(path: packed)) == events(try Trace(path: plain)))
    #expect(!events(try Trace(path: packed)).isEmpty)
  }
}
