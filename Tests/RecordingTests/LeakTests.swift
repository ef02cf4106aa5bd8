import Foundation
import Reports
import SystemPackage
import Testing
import TraceReader
import TraceTestSupport

/// Programs with known leaks and known non-leaks, from the compiler to the table of leaks.
@Suite(.serialized) struct LeakTests {
  private typealias Figures = LeakedProgram.Figures

  private static func cProgram() throws -> [String] {
    let plugin = try TestProgram("leaks_plugin.c", flags: ["-shared", "-fPIC"])
    return [try TestProgram("leaks.c").path.string, plugin.path.string]
  }

  @Test func leaksOfC() throws {
    let run = try TracedRun(try Self.cProgram())
    let program = try LeakedProgram(try run.root())
    #expect(program.leaksByCase == (try LeakedProgram.expected(TestProgram("leaks.c"))))
    #expect(
      program.leaks == [
        "struct node": Figures(7, 112, roots: 2),
        "struct node[]": Figures(4, 128, roots: 2),
        "struct tree": Figures(7, 168, roots: 1),
        "struct pair": Figures(3, 96, roots: 3),
        "calloc in leak_tree": Figures(1, 77, roots: 0),
        "malloc in leak_block": Figures(1, 100, roots: 1),
        "malloc in leak_overwritten": Figures(2, 32, roots: 2),
        "calloc in leak_by_freed_holder": Figures(1, 48, roots: 1),
        "realloc in leak_realloc": Figures(1, 300, roots: 1),
        "posix_memalign in leak_aligned": Figures(1, 200, roots: 1),
        "aligned_alloc in leak_aligned": Figures(1, 384, roots: 1),
        "malloc in leak_big": Figures(1, 1 << 20, roots: 1),
        "malloc in leak_copy": Figures(1, 34, roots: 1),
        "calloc in leak_unloaded": Figures(1, 321, roots: 1),
        "calloc in leak_unmapped": Figures(1, 322, roots: 1),
        "calloc in leak_held_by_main": Figures(1, 323, roots: 1),
        "calloc in leak_thread": Figures(1, 500, roots: 0),
      ])
    #expect(program.report.leaked.count == 35)
    #expect((program.report.rootLeakCount, program.report.rootCycleCount) == (16, 2))
  }

  @Test func blocksHeldInTheMiddleAreListedApart() throws {
    let program = try LeakedProgram(try TracedRun(try Self.cProgram()).root())
    #expect(
      program.possible == [
        "long[]": Figures(1, 800, roots: 1),
        "struct pair": Figures(2, 64, roots: 2),
      ])
    let holders = program.report.possibleRows.compactMap(\.heldBy)
    #expect(holders.contains { $0.hasPrefix("variable middle") })
    #expect(holders.contains { $0.hasPrefix("variable tagged") })
  }

  /// A pattern that is leaked counts, and what else the library forgets.
  @Test func elementsOfPatternsOfFontconfigAreNoLeaks() throws {
    let folder = try ScratchDirectory()
    let library = folder.path.appending("libfontconfig.so.1").string
    let built = try TestProgram("patterns.c", flags: ["-shared", "-fPIC", "-s"])
    _ = try ProcessRun.run(["/bin/cp", built.path.string, library])
    let user = try TestProgram("pattern_user.c")
    let run = try TracedRun([user.path.string, library])
    #expect(run.recorded.status == 0)
    let report = try LeakedProgram(try run.root()).report
    #expect(report.rows.map(\.bytes).sorted() == [24, 100])
    let rule = try #require(report.systemRules.first { $0.rule == "fontconfig patterns" })
    #expect((rule.blocks.count, rule.blocks.bytes) == (2, 512))
  }

  @Test func whatIsLeftInBuffersOfStreamsHoldsNothing() throws {
    let source = try TestProgram("stream_buffer.c")
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaksByCase == ["leak_behind_buffer": 1])
  }

  @Test func theKernelHoldsSignalStacks() throws {
    let run = try TracedRun([try TestProgram("signal_stacks.c", flags: ["-pthread"]).path.string])
    let trace = try run.root()
    #expect(try LeakedProgram(trace).leaksByCase == ["leak_behind_handler": 1])
    let sizes = trace.snapshots[0].threads.compactMap(\.signalStack?.count).sorted()
    #expect(sizes == [30001, 40001])
  }

  /// Also in a copy of the process, where the snapshot is taken while that goes on.
  @Test(arguments: [[], ["now"]])
  func theKernelHoldsWhatItBringsBack(arguments: [String]) throws {
    let program = try TestProgram("kernel_words.c", flags: TestProgram.withMarks)
    let trace = try TracedRun([program.path.string] + arguments).root()
    let leaked = try LeakedProgram(trace)
    #expect(leaked.leaksByCase == ["leak_modified": 1])
    #expect(leaked.possibleByCase == [:])
    let snapshot = try #require(trace.snapshots.last)
    #expect(snapshot.kernelWords.count == 3)
    let kernel = try #require(leaked.report.reachable.first { $0.root == "kernel" })
    #expect((kernel.blocks.count, kernel.blocks.bytes) == (2, 205))
  }

  @Test func aFreedArenaHoldsNothing() throws {
    let run = try TracedRun([try TestProgram("freed_arena.c", flags: ["-pthread"]).path.string])
    #expect(try LeakedProgram(try run.root()).leaksByCase == ["leak_in_arena": 1])
  }

  @Test func leaksOfCxx() throws {
    let source = try TestProgram("leaks.cpp")
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaksByCase == (try LeakedProgram.expected(source)))
    #expect(
      program.leaks == [
        "Circle": Figures(4, 96, roots: 4),
        "Label": Figures(1, 40, roots: 1),
        "Diamond": Figures(1, 56, roots: 1),
        "int[]": Figures(1, 200, roots: 1),
        "Counted[]": Figures(1, 24, roots: 1),
        "Person": Figures(1, 24, roots: 1),
        "std::_Sp_counted_ptr<Person*>": Figures(1, 24, roots: 1),
        "std::_Sp_counted_ptr_inplace<Person>": Figures(2, 80, roots: 2),
        "std::_Sp_counted_ptr_inplace<Button>": Figures(1, 48, roots: 1),
        "std::function<void()> storage": Figures(1, 56, roots: 1),
        "std::_Sp_counted_ptr_inplace<View>": Figures(1, 32, roots: 1),
        "std::_Sp_counted_ptr_inplace<Controller>": Figures(1, 40, roots: 1),
        "std::_Sp_counted_ptr_inplace<Group>": Figures(2, 80, roots: 2),
        "std::vector<std::shared_ptr<Group>> storage": Figures(2, 32, roots: 2),
        "std::list<std::string>": Figures(1, 24, roots: 1),
        "std::list<std::string> node": Figures(2, 96, roots: 0),
        "std::string storage": Figures(1, 48, roots: 0),
        "std::unordered_map<int, int>": Figures(1, 56, roots: 1),
        "std::unordered_map<int, int> buckets": Figures(1, 104, roots: 0),
        "std::unordered_map<int, int> node": Figures(3, 48, roots: 0),
      ])
    #expect(program.possibleByCase == ["keep_member": 1])
  }

  /// In the gaps of a structure, behind a short text and in two small numbers.
  @Test(arguments: ["-O0", "-O2"])
  func whatWasInABlockBeforeDragsNothingAlong(_ optimisation: String) throws {
    let source = try TestProgram("unused_words.cpp", flags: [optimisation])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(
      program.leaks == ["Leaf": Figures(2, 320, roots: 2), "Label": Figures(1, 40, roots: 1)])
  }

  /// Three elements of a deque, four of a vector, and ten of one that was cleared.
  @Test(arguments: ["-O0", "-O2"])
  func whatContainersHaveLeftBehindIsLeaked(_ optimisation: String) throws {
    let source = try TestProgram("free_elements.cpp", flags: [optimisation])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(
      program.leaks == [
        "Cleared": Figures(10, 320, roots: 10), "Popped": Figures(4, 160, roots: 4),
        "Queued": Figures(3, 144, roots: 3),
      ])
  }

  @Test func whatIsLeftBehindShortTextsIsDoubtful() throws {
    let source = try TestProgram("short_strings.cpp")
    let report = try LeakedProgram(try TracedRun([source.path.string]).root()).report
    #expect((report.leaked.count, report.leaked.bytes) == (1, 1001))
    #expect((report.possible.count, report.possible.bytes) == (2, 1002 + 1003))
  }

  @Test(arguments: ["-O0", "-O2"])
  func whatHasLostItsOwnerIsNoCycle(_ optimisation: String) throws {
    let source = try TestProgram("lost_owners.cpp", flags: [optimisation])
    let report = try LeakedProgram(try TracedRun([source.path.string]).root()).report
    let counted = "std::_Sp_counted_ptr_inplace<Node>"
    let roots = report.treeGroups.map { "\($0.role) \($0.name ?? "")" }.sorted()
    #expect(roots == ["rootCycle \(counted)", "rootLeak Node", "rootLeak \(counted)"])
    #expect(report.leaked.count == 10)
    let cycle = try #require(report.treeGroups.first { $0.role == .rootCycle }?.trees.first)
    let back = cycle.filter { [.cycleBack, .back].contains($0.role) }
    #expect(back.map { "\($0.field ?? "") \($0.role)" } == ["parent back", "owner cycleBack"])
  }

  @Test(arguments: ["-O0", "-O2"])
  func aWeakPointerHoldsNothingOnceTheObjectIsGone(_ optimisation: String) throws {
    let source = try TestProgram("expired_owners.cpp", flags: [optimisation])
    let report = try LeakedProgram(try TracedRun([source.path.string]).root()).report
    let roots = report.treeGroups.map { "\($0.role) \($0.name ?? "")" }.sorted()
    #expect(roots == ["rootLeak Message", "rootLeak Node"])
    #expect((report.leaked.count, report.leaked.bytes) == (2, 96))
    #expect(report.possible.count == 0)
  }

  @Test func leaksOfSwift() throws {
    let source = try TestProgram("leaks.swift", flags: ["-module-name", "leaks"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaksByCase == (try LeakedProgram.expected(source)))
    let found = Dictionary(
      uniqueKeysWithValues: program.leaks.map { ($0.key.replacing("leaks.", with: ""), $0.value) })
    for (name, figures) in [
      ("Parent", Figures(2, 48, roots: 1)), ("Child", Figures(2, 48, roots: 1)),
      ("Node", Figures(10, 320, roots: 3)), ("Branch", Figures(15, 480, roots: 1)),
      ("Button", Figures(2, 112, roots: 2)),
      ("Closure context {Button, Int}", Figures(1, 32, roots: 1)),
      ("Screen", Figures(1, 24, roots: 1)), ("Table", Figures(1, 32, roots: 1)),
      ("Folder", Figures(2, 64, roots: 2)), ("File", Figures(4, 96, roots: 4)),
      ("Dictionary<String, File> storage", Figures(1, 120, roots: 1)),
      ("Cell<String>", Figures(2, 80, roots: 2)), ("Cell<Int>", Figures(1, 32, roots: 1)),
      ("Cell<Optional<AnyObject>>", Figures(1, 32, roots: 1)),
      ("Cell<Expression>", Figures(1, 32, roots: 1)),
      ("Box<(Expression, Expression)>", Figures(2, 64, roots: 0)),
      ("Box<Int>", Figures(2, 48, roots: 0)), ("Box<Node>", Figures(1, 24, roots: 0)),
      ("Canvas", Figures(1, 64, roots: 1)), ("Box<Picture>", Figures(1, 56, roots: 0)),
      ("Observer", Figures(1, 32, roots: 1)),
    ] {
      #expect(found[name] == figures, "\(name)")
    }
    #expect(found["Swift Task"]?.count == 1)
    #expect(program.possibleByCase.isEmpty)
  }

  @Test(arguments: [
    ["-Onone"], ["-O"], ["-O", "-static-stdlib"], ["-O", "-static-stdlib", "-Xlinker", "-s"],
  ])
  func framesOfAsyncFunctionsThatReturnedHoldNothing(_ flags: [String]) throws {
    let source = try TestProgram(
      "task_slabs.swift", flags: flags + ["-parse-as-library", "-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks["app.Page"] == Figures(20, 480, roots: 20))
    #expect(program.leaks["app.HeldPage"] == nil)
    // It holds itself as often as it counts: the frame that it was left in does not.
    #expect(program.leaks["app.LeftPage"] == Figures(1, 24, roots: 1))
    #expect(program.possible.keys.allSatisfy { !$0.hasPrefix("app.") })
  }

  @Test(arguments: [["-Onone"], ["-O", "-static-stdlib"]])
  func bucketsThatAreNotInUseHoldNothing(_ flags: [String]) throws {
    let source = try TestProgram("swift_tables.swift", flags: flags + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    // Of the pages that were made to remove others as well.
    #expect(program.leaks["app.Page"] == Figures(400, 12800, roots: 400))
    #expect(program.leaks["app.HeldPage"] == nil)
    #expect(program.possible.keys.allSatisfy { !$0.hasPrefix("app.") })
  }

  @Test(arguments: [["-Onone"], ["-O"]])
  func whatOnlyIdentifiesObjectsDoesNotHoldThem(_ flags: [String]) throws {
    let source = try TestProgram("identifiers.swift", flags: flags + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks["app.Page"] == Figures(64, 1536, roots: 64))
    #expect(program.leaks["app.HeldPage"] == nil)
    #expect(program.leaks["app.Ticket"] == nil)
  }

  @Test func objectsOfEmbeddedSwiftKeepThemselves() throws {
    let source = try TestProgram(
      "embedded_cycles.swift",
      flags: ["-enable-experimental-feature", "Embedded", "-wmo", "-module-name", "app"])
    let report = try LeakedProgram(try TracedRun([source.path.string]).root()).report
    let roots = report.treeGroups.map { "\($0.role) \($0.name ?? "")" }.sorted()
    #expect(
      roots == [
        "rootCycle app.Button", "rootCycle app.Node", "rootCycle app.Node", "rootCycle app.Node",
        "rootLeak app.Forgotten",
      ])
    #expect((report.rootLeakCount, report.rootCycleCount) == (1, 4))
  }

  @Test func aRetainCycleHasItsTypesFieldsAndLines() throws {
    let run = try TracedRun([
      try TestProgram("leaks.swift", flags: ["-module-name", "leaks"]).path.string
    ])
    let report = try LeakedProgram(try run.root()).report
    let group = try #require(
      report.treeGroups.first { $0.role == .rootCycle && $0.name?.hasSuffix(".Parent") == true })
    let lines = try #require(group.trees.first)
    #expect(lines.map(\.role) == [.rootCycle, .rootCycle, .cycleBack])
    #expect(lines.map(\.field) == [nil, "child", "parent"])
    #expect(lines.map(\.offset) == [nil, 16, 16])
    #expect(lines[1].name?.hasSuffix(".Child") == true)
    #expect(group.frames.contains { $0.name == "leakCycle()" && $0.line != nil })
  }

  @Test func objectsOfAGenericClassHaveTheirFields() throws {
    let run = try TracedRun([
      try TestProgram("leaks.swift", flags: ["-module-name", "leaks"]).path.string
    ])
    let report = try LeakedProgram(try run.root()).report
    let trees = report.treeGroups.filter { $0.name?.hasPrefix("leaks.Cell<") == true }
      .flatMap(\.trees)
    // `content` has one word or two, `other` lies behind it.
    let edges = Set(
      trees.flatMap { $0 }.compactMap { line in
        line.field.map { "\($0) +\(line.offset ?? 0)" }
      })
    #expect(edges.isSuperset(of: ["content +16", "other +24", "other +32"]))
  }

  @Test(arguments: [["-Onone"], ["-Onone", "-static-stdlib"]])
  func objectsHaveTheFieldsThatTheyInherit(_ flags: [String]) throws {
    let source = try TestProgram("inherited.swift", flags: flags + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    // The one that only unowned references lead to is among them.
    for name in [
      "app.Last", "app.Derived", "app.Model", "app.Pack<Int, String, Double>", "app.Pack<>",
      "app.Pair<Pack{Int8, String}, Double>", "app.Linked",
    ] {
      #expect(program.leaks[name]?.count == 1, "\(name)")
    }
    #expect(program.leaks["app.Owner"]?.count == 2)
    #expect(program.leaks["app.Screen"]?.count == 2)
    let lines = program.report.treeGroups.flatMap(\.trees).flatMap { $0 }
    let fields = Set(lines.compactMap { line in line.field.map { "\($0) +\(line.offset ?? 0)" } })
    #expect(
      fields.isSuperset(of: [
        "first +16", "value +24", "later +32", "other +16", "other +48", "_other +16",
        "links.next +32",
      ]))
    // What lies behind the properties has no name.
    #expect(!fields.contains { $0.hasPrefix("countAndCapacity") })
    #expect(program.leaks["Swift side table"] == Figures(1, 32, roots: 0))
  }

  @Test(arguments: ["-Onone", "-O"])
  func whatIsLeftBehindAValueInAnExistentialHoldsNothing(_ option: String) throws {
    let source = try TestProgram("existentials.swift", flags: [option, "-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks["app.Lost"]?.count == 48)
    #expect(program.leaks["app.Kept"] == nil && program.leaks["app.Derived"] == nil)
    #expect(program.leaks["app.Holder"] == nil)
  }

  @Test(arguments: ["-Onone", "-O"])
  func anArrayHoldsWhatLiesBeyondItsSizeClass(_ option: String) throws {
    let source = try TestProgram("array_room.swift", flags: [option, "-module-name", "app"])
    let run = try TracedRun([source.path.string])
    try #require(run.recorded.outputText == "253\n")
    let program = try LeakedProgram(run.root())
    #expect(program.leaks.isEmpty && program.possible.isEmpty)
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-Onone", "-static-stdlib"]])
  func whatIsLeftBehindSmallNumbersHoldsNothing(_ options: [String]) throws {
    let source = try TestProgram("padding.swift", flags: options + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks == ["app.Leaked": Figures(280, 280 * 32, roots: 280)])
    #expect(program.possible.isEmpty)
  }

  @Test(arguments: [["-Onone"], ["-O"]])
  func elementsThatAreBeingAddedAreHeld(_ options: [String]) throws {
    let source = try TestProgram("growing_arrays.swift", flags: options + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks.isEmpty)
    #expect(program.possible.isEmpty)
  }

  /// A text holds nothing, nor does an array of objects by their middle, nor what no array counts; whether an array of
  /// small numbers does is doubtful.
  @Test(arguments: [["-Onone"], ["-O"], ["-Onone", "-static-stdlib"]])
  func whatWasThereBeforeATextHoldsNothing(_ options: [String]) throws {
    let source = try TestProgram("unused_room.swift", flags: options + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(
      program.leaks == [
        "app.BehindText": Figures(1, 32, roots: 1), "app.BehindObjects": Figures(2, 64, roots: 2),
        "app.BehindNumbers": Figures(2, 64, roots: 2),
      ])
    #expect(program.possible == ["app.WithinNumbers": Figures(1, 32, roots: 1)])
  }

  /// No type tells that the references in these places do not hold; what the objects count does.
  @Test(arguments: [["-Onone"], ["-O"], ["-Onone", "-static-stdlib"]])
  func whatObjectsDoNotCountDoesNotHoldThem(_ options: [String]) throws {
    let source = try TestProgram("settled.swift", flags: options + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(
      program.leaks == [
        "app.Leaked": Figures(11, 264, roots: 11), "app.LeakedByClosure": Figures(1, 40, roots: 1),
        "app.LeakedByAny": Figures(1, 48, roots: 1),
        "app.LeakedByDelegate": Figures(1, 32, roots: 1),
        "app.LeakedByBox": Figures(1, 64, roots: 1), "Box<app.Rectangle>": Figures(1, 48, roots: 1),
        "app.LeakedByElement": Figures(1, 24, roots: 1),
        "Array<AnyObject> storage": Figures(1, 40, roots: 1),
        "app.LeakedByValue": Figures(1, 24, roots: 1),
        "Dictionary<Int, app.LeakedByValue> storage": Figures(1, 104, roots: 1),
        "app.LeakedByMember": Figures(1, 24, roots: 1),
        "Set<app.LeakedByMember> storage": Figures(1, 80, roots: 1),
        "app.LeakedByCell": Figures(1, 24, roots: 1),
        "app.Cell<Array<Int>>": Figures(1, 24, roots: 1),
        "app.LeakedByBuffer": Figures(1, 24, roots: 1),
        "ManagedBuffer<Optional<app.LeakedByBuffer>, Int>": Figures(1, 32, roots: 1),
      ])
    #expect(program.possible.isEmpty)
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func slotsOfDequesThatAreNotInUseHoldNothing(_ options: [String]) throws {
    let source = try TestProgram("deque.swift", flags: options + ["-module-name", "app"])
    let run = try TracedRun([source.path.string])
    try #require(run.recorded.outputText == "0 3\n")
    let program = try LeakedProgram(run.root())
    #expect(program.leaks["app.Leaked"] == Figures(3, 72, roots: 3))
    #expect(program.leaks["app.Cyclic"] == Figures(3, 72, roots: 1))
    #expect(program.possible.isEmpty)
    let fields = program.report.treeGroups.filter { $0.name != "app.Leaked" }.flatMap(\.trees)
      .map { Set($0.compactMap(\.field)) }
    #expect(fields.contains(["[0].object", "[1].object", "[2].object", "all"]))
  }

  @Test(arguments: [["-Onone"], ["-O"]])
  func nodesOfTreesHoldTheirChildrenAndItems(_ options: [String]) throws {
    let source = try TestProgram("tree_nodes.swift", flags: options + ["-module-name", "app"])
    let run = try TracedRun([source.path.string])
    try #require(run.recorded.outputText == "0\n")
    let program = try LeakedProgram(run.root())
    #expect(program.leaks["app.Leaked"] == Figures(2, 48, roots: 2))
    #expect(program.leaks["app.Cyclic"] == Figures(3, 72, roots: 3))
    #expect(program.possible.isEmpty)
    let fields = program.report.treeGroups.filter { $0.name == "app.Cyclic" }.flatMap(\.trees)
      .map { $0.compactMap(\.field).sorted().joined(separator: " ") }
    #expect(
      Set(fields) == [
        "children[0] tree value.object value.object value.object", "key.object tree",
        "element.object tree",
      ])
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func protocolsWithArgumentsHaveNames(_ options: [String]) throws {
    let source = try TestProgram("constrained.swift", flags: options + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    let storages = program.leaks.keys.filter { $0.hasSuffix(" storage") }
    let all: Set = [
      "Array<app.Shape<Int>> storage", "Array<app.Shape<Array<String>> & app.Tagged> storage",
      "Array<app.Watcher<Int>> storage", "Dictionary<String, app.Table<String, Int>> storage",
      "Array<Sequence<Int>> storage", "Array<Optional<app.Shape<Bool>>> storage",
    ]
    #expect(all.isSubset(of: storages))
  }

  @Test(arguments: [["-Onone"], ["-O"]])
  func elementsThatArraysDoNotCountHoldNothing(_ options: [String]) throws {
    let source = try TestProgram("array_counts.swift", flags: options + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks["app.Leaked"] == Figures(5, 120, roots: 5))
    // Code that is made for one type names it, and the source.
    let buffer = "UnsafeMutablePointer<Int> storage"
    #expect(program.leaks[buffer] == Figures(1, 824, roots: 1))
    #expect(program.leaks.count == 2)
    #expect(program.possible.isEmpty)
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func elementsOfContainersAreKnownByTheirTypes(_ options: [String]) throws {
    let source = try TestProgram("elements.swift", flags: options + ["-module-name", "app"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks["app.Page"] == Figures(21, 504, roots: 21))
    #expect(program.leaks["app.Node"] == Figures(4, 192, roots: 4))
    #expect(program.possible.isEmpty)
    let fields = program.report.treeGroups.filter { $0.name == "app.Node" }.flatMap(\.trees)
      .map { $0.map(\.field) }
    #expect(
      Set(fields) == [
        [nil, "edges", "[1].target"], [nil, "nested", "[0].settings.owner"],
        [nil, "byNumber", "value.target"], [nil, "byName", "value"],
      ])
    let kept = program.report.treeGroups.filter { $0.name == "app.Keeper" }.flatMap(\.trees)
      .map { $0.compactMap(\.field).joined(separator: " ") }
    let all: Set = [
      "closures [1]", "named [0].keeper", "cases [1]", "handlers value", "groups value [1]",
      "numbers key", "labels key.keeper", "members element", "listeners [0] [1]", "shapes [1]",
      "shapesByName value", "tree value.1", "owners [0].keeper", "pairs [0].owner.keeper",
      "several [1]", "objects [0] [1]", "listed [0] [1]", "inherited [0] [1]", "optionals [1]",
      "sendable value",
    ]
    // The optimizer may find out that nobody looks at one of them.
    #expect(Set(kept).isSubset(of: all))
    if options.contains("-Onone") { #expect(Set(kept) == all) }
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func genericStructuresAreKnownByTheirArguments(_ options: [String]) throws {
    let flags = options + ["-module-name", "app"]
    let source = try TestProgram("generic_structures.swift", flags: flags)
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    // Those that are kept, and those in what is leaked: nobody holds any of them.
    #expect(program.leaks["app.Page"] == Figures(28, 672, roots: 28))
    #expect(program.leaks["app.Node"]?.count == 9)
    #expect(program.possible.isEmpty)
    let fields = program.report.treeGroups.flatMap(\.trees)
      .map { $0.compactMap(\.field).filter { $0 != "owner" && $0 != "this" } }
    #expect(
      Set(fields.map { $0.joined(separator: " ") }) == [
        "", "state.node", "cell.node", "small.node", "nested.value.node", "pair.1", "value.node",
        "cells [1].node", "byNumber value.node",
      ])
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func optionalStructuresAreKnownByWhatIsInThem(_ options: [String]) throws {
    let flags = options + ["-module-name", "app"]
    let source = try TestProgram("optional_structures.swift", flags: flags)
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    // Three in variables, five in what is kept, five in what is leaked: nobody holds any of them.
    #expect(program.leaks["app.Page"] == Figures(13, 312, roots: 13))
    #expect(program.leaks["app.Node"]?.count == 11)
    #expect(program.possible.isEmpty)
    let fields = program.report.treeGroups.flatMap(\.trees)
      .map { $0.compactMap(\.field).filter { $0 != "owner" }.joined(separator: " ") }
    #expect(
      Set(fields) == [
        "", "link.node", "pair.node", "_link.wrappedValue.node", "links [1].node",
        "byNumber value.node", "pair.first pair.second", "list [1]", "error value.node",
        "call [0] [2]",
      ])
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func whatLiesInNestedTypesTuplesBuffersAndStreamsHasNames(_ options: [String]) throws {
    let flags = options + ["-module-name", "app"]
    let source = try TestProgram("nested_types.swift", flags: flags)
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    // Held by nothing but `unowned` references in structures that are in a generic class.
    #expect(program.leaks["app.Page"] == Figures(5, 120, roots: 5))
    #expect(program.possible.isEmpty)
    let fields = program.report.treeGroups.filter { $0.name != "app.Page" }.flatMap(\.trees)
      .map { $0.compactMap(\.field).filter { $0 != "owner" }.joined(separator: " ") }
    #expect(Set(fields) == Self.fieldsOfNestedTypes)
  }

  private static let fieldsOfNestedTypes: Set<String> = {
    var fields: Set = [
      "link.node", "links [1].node", "note.node", "pair.node", "name.node", "[1].1", "[0]",
      "callbacks [0] [0] [1]",
      "stream storage state.onTermination failing storage produce",
      "stream storage failing storage state.onTermination produce",
    ]
    #if compiler(>=6.2)
      fields.formUnion(["slots[2].node", "node"])
    #endif
    return fields
  }()

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func whatClosuresCaptureAndBoxesHoldHasNames(_ options: [String]) throws {
    let flags = options + ["-swift-version", "5", "-module-name", "app"]
    let source = try TestProgram("captured_values.swift", flags: flags)
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks["app.Keeper"]?.count == 10)
    let fields = program.report.treeGroups.filter { $0.name == "app.Keeper" }.flatMap(\.trees)
      .map { $0.compactMap(\.field).filter { $0 != "tree" }.joined(separator: " ") }
    #expect(
      Set(fields) == [
        "call [1]", "call [0].1", "call [0].owner", "call value.owner", "call [0] [2]",
        "value.0 value.1 value", "error value.owner", "call [0] [1]", "call value",
      ])
  }

  @Test(arguments: [["-Onone"], ["-O"]])
  func structuresOfLibrariesAreKnown(_ options: [String]) throws {
    let flags = options + ["-module-name", "app"]
    let source = try TestProgram("library_structures.swift", flags: flags)
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks["app.Keeper"]?.count == 6)
    let fields = program.report.treeGroups.filter { $0.name == "app.Keeper" }.flatMap(\.trees)
      .flatMap { $0 }.compactMap(\.field)
    let all: Set = [
      "[1].object", "value.object", "[0].object", "[0]._sequence1", "last.object", "pairs",
    ]
    #expect(all.isSubset(of: fields))
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-Onone", "-static-stdlib"]])
  func tablesOfGenericTypesAreHeld(_ options: [String]) throws {
    let source = try TestProgram("specializations.swift", flags: options + ["-module-name", "app"])
    let run = try TracedRun([source.path.string])
    #expect(run.recorded.outputText == "30\n")
    let program = try LeakedProgram(try run.root())
    #expect(program.leaks.isEmpty)
    #expect(program.possible.isEmpty)
  }

  /// Functions that have returned leave addresses behind, on which exit's own frames then lie.
  @Test func wordsLeftOnTheStackHoldNothingOnceMainHasReturned() throws {
    let source = try TestProgram("stale_stack.c")
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(
      program.leaks == [
        "malloc in leak": Figures(1, 771, roots: 1), "malloc in main": Figures(1, 772, roots: 1),
      ])
  }

  @Test func aThreadThatWasNotJoinedHoldsItsResultOnly() throws {
    let source = try TestProgram("unjoined.c", flags: ["-pthread"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks == ["malloc in work": Figures(2, 1765, roots: 2)])
  }

  /// The trees of leaks of a program in Rust, without addresses and offsets.
  private func trees(ofRust source: String, _ flags: [String]) throws -> (
    trees: [String], report: String
  ) {
    let run = try TracedRun([try TestProgram(source, flags: flags).path.string])
    let leaks = try ProcessRun.run(
      [BuiltProducts.memtrace.string, "leaks", run.traces[0].string, "--top", "0"])
    let trees = leaks.outputText.split(separator: "\n").compactMap { line in
      let line = line.replacing(#/ 0x[0-9a-f]+|weak_parents::app::|hash_tables::/#, with: "")
        .replacing(#/ \+ [0-9]+ -->/#, with: " -->")
      return line.firstMatch(of: #/^( +)(?:\d+ \(.*?\) )?(ROOT .*|.*-->.*)$/#).map {
        String(repeating: " ", count: $0.output.1.count / 3 - 1) + $0.output.2
      }
    }
    return (trees, leaks.outputText)
  }

  @Test(
    .enabled(if: TestProgram.has("rustc"), "needs rustc"), arguments: [["-g"], ["-g", "-O"]])
  func tablesOfRustAreHeldByTheirMiddle(flags: [String]) throws {
    let (trees, report) = try trees(ofRust: "hash_tables.rs", flags)
    #expect(
      trees == [
        "ROOT CYCLE: <Rc<Room>> [72]",
        " doors --> ROOT CYCLE: <HashMap<String, Rc<Room>> storage> [148]",
        "  key --> <String storage> [5]",
        "  value --> CYCLE BACK TO <Rc<Room>> [72]",
        "ROOT CYCLE: <Rc<Shelf>> [48]",
        " others --> ROOT CYCLE: <BTreeMap<u32, Rc<Shelf>> node> [144]",
        "  value --> CYCLE BACK TO <Rc<Shelf>> [48]",
        "ROOT LEAK: <Rc<Desk>> [24]",
        " office --> <Rc<Office>> [72]",
        "  desks --> <HashMap<u64, Weak<Desk>> storage> [84]",
        "   value --> BACK TO <Rc<Desk>> [24]",
        "ROOT CYCLE: <Rc<Club>> [72]",
        " members --> ROOT CYCLE: <HashSet<Member> storage> [84]",
        "  element.club --> CYCLE BACK TO <Rc<Club>> [72]",
        "ROOT LEAK: <Vec<Box<dyn Bell>> storage> [64]",
        " [0] --> <Box<Small>> [8]",
        "  times --> <Box<u64>> [8]",
        "ROOT LEAK: <Box<[(u64, String); 2]>> [64]",
        " [0].1 --> <String storage> [3]",
        " [1].1 --> <String storage> [3]",
      ], "\(report)")
    #expect(!report.contains("Possible leaks"))
  }

  /// The list of Python's garbage collector has all of them.
  ///
  /// Before the collector's last run what it would free looks the same.
  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"),
    arguments: [[], ["now"]])
  func lostReferencesOfPythonAreLeaks(arguments: [String]) throws {
    let directory = try ScratchDirectory()
    let record = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "record", "-q", "-o", "root.mtrace", "--",
        "/usr/bin/python3", TestProgram.sources.appending("lost_references.py").string,
      ] + arguments, environment: TracedRun.minimalEnvironment + ["PYTHONMALLOC=malloc"],
      directory: directory.path)
    #expect(record.status == 0)
    let program = try LeakedProgram(try Trace(path: directory.path.appending("root.mtrace")))
    #expect(program.leaks["Ring"] == nil)
    // A word that was left somewhere may hold one or two.
    let nodes = program.leaks["Node"]?.count ?? 0
    #expect(arguments.isEmpty ? 15...20 ~= nodes : nodes == 0)
    #expect(arguments.isEmpty || program.leaks["Kept"] == nil)
    #expect(arguments.isEmpty == ((program.leaks["dict"]?.count ?? 0) >= 15))
  }

  /// Debug information tells a `Weak` of Rust from an `Rc`, and what fields are called.
  @Test(
    .enabled(if: TestProgram.has("rustc"), "needs rustc"), arguments: [["-g"], ["-g", "-O"]])
  func whatIsHeldByWeakInRustIsNoCycle(flags: [String]) throws {
    let (trees, report) = try trees(ofRust: "weak_parents.rs", flags)
    #expect(
      trees == [
        "ROOT LEAK: <Rc<Node>> [80]",
        " name.1 --> <Box<[u64; 3]>> [24]",
        " children --> <Vec<Rc<Node>> storage> [32]",
        "  [0] --> <Rc<Node>> [80]",
        "   name.1 --> <Box<[u64; 3]>> [24]",
        "   parent --> BACK TO <Rc<Node>> [80]",
        "  [1] --> <Rc<Node>> [80]",
        "   name.1 --> <Box<[u64; 3]>> [24]",
        "   parent --> BACK TO <Rc<Node>> [80]",
        "ROOT LEAK: <Rc<Wheel>> [64]",
        " hub --> <Rc<Wheel>> [64]",
        "  spokes --> <Vec<Option<Weak<Wheel>>> storage> [32]",
        "   [0] --> BACK TO <Rc<Wheel>> [64]",
        "ROOT CYCLE: <Rc<Ring>> [40]",
        " other --> ROOT CYCLE: <Rc<Ring>> [40]",
        "  other --> CYCLE BACK TO <Rc<Ring>> [40]",
        "ROOT LEAK: <Rc<RefCell<Branch>>> [40]",
        " child --> <Rc<RefCell<Branch>>> [40]",
        "  parent --> BACK TO <Rc<RefCell<Branch>>> [40]",
        "ROOT LEAK: <Box<Item>> [32]",
        " next --> <Box<Item>> [32]",
        "  shape --> <Box<u32>> [4]",
        " shape --> <Box<u32>> [4]",
        "ROOT CYCLE: <Rc<Own>> [56]",
        " call --> <Box<weak_parents::leak_own::{closure_env#0}>> [8]",
        " me --> CYCLE BACK TO <Rc<Own>> [56]",
        "ROOT LEAK: <Rc<Known>> [40]",
        "ROOT CYCLE: <Rc<RefCell<Inner>>> [32]",
        " me --> CYCLE BACK TO <Rc<RefCell<Inner>>> [32]",
      ], "\(report)")
  }

  /// It has woken the thread that ends the process, and gets no processor before that does so.
  @Test func aThreadMayFinishItsWorkWhenTheProcessEnds() throws {
    let source = try TestProgram("just_woken.c", flags: ["-O0", "-pthread"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks == ["malloc in work": Figures(1, 45001, roots: 1)])
  }

  /// As where it has returned, but main and its variables are still there.
  @Test(arguments: ["-O0", "-O2"])
  func wordsLeftInFramesOfExitHoldNothingWhileMainDoes(level: String) throws {
    let source = try TestProgram("stale_stack.c", flags: [level])
    let program = try LeakedProgram(try TracedRun([source.path.string, "exit"]).root())
    #expect(program.leaks == ["malloc in leak": Figures(1, 771, roots: 1)])
  }

  /// Functions of the C library that run exit handlers save them on the stack.
  @Test func registersOfAFunctionThatCallsExitHold() throws {
    let source = try TestProgram("exit_registers.c", flags: ["-O2"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks.isEmpty)
  }

  /// What is just being swapped through them.
  @Test func vectorRegistersOfARunningThreadHold() throws {
    let source = try TestProgram("wide_registers.c", flags: ["-O2", "-pthread"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks == ["malloc in main": Figures(1, 45000, roots: 1)])
  }

  /// What was copied through them last, say.
  @Test func vectorRegistersOfAThreadInASystemCallHoldNothing() throws {
    let source = try TestProgram("vector_registers.c", flags: ["-O2", "-pthread"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    let leaks = ["malloc in wait_with_register": Figures(1, 44003, roots: 1)]
    #expect(program.leaks == leaks)
    // Nor do those of the thread that takes the snapshot.
    let ended = try TracedRun(
      [source.path.string, "ends"], start: .launcher(["--snapshot-on-crash"]))
    #expect(try LeakedProgram(try ended.root()).leaks == leaks)
  }

  @Test(arguments: [[], ["-static-stdlib"]])
  func whatRuntimesKeepOfObjectsThatAreGoneHoldsNothing(_ options: [String]) throws {
    let source = try TestProgram(
      "left_behind.swift", flags: options + ["-O", "-module-name", "left"])
    let run = try TracedRun([source.path.string])
    let words = run.recorded.outputText.split(whereSeparator: \.isWhitespace)
    guard words.dropLast() == ["in", "place"], let attempts = words.last.flatMap({ UInt64($0) })
    else {
      Issue.record("the allocator did not give the place again: \(run.recorded.outputText)")
      return
    }
    let trace = try run.root()
    #expect(
      try LeakedProgram(trace).leaks == [
        "left.Lost": Figures(attempts, attempts * 24, roots: attempts)
      ])
    let snapshot = try #require(trace.snapshots.last)
    #expect(snapshot.dispatchModule > 0)
    // An executable has variables of the Swift runtime as well.
    #expect((snapshot.dispatchOffset > 0) == options.contains("-static-stdlib"))
  }

  @Test(arguments: [[], ["-static-stdlib"], ["-static-stdlib", "-Xlinker", "-s"]])
  func tasksThatWaitForeverAreLostInStrippedProgramsToo(_ options: [String]) throws {
    let source = try TestProgram(
      "lost_tasks.swift", flags: options + ["-O", "-module-name", "app"])
    let trace = try TracedRun([source.path.string]).root()
    let program = try LeakedProgram(trace)
    #expect(program.leaks["app.Poller"] == Figures(4, 128, roots: 4))
    #expect(program.leaks["Swift Task"]?.count == 4)
    #expect(program.leaks["Swift Task Slab"]?.count == 4)
    let snapshot = try #require(trace.snapshots.last)
    #expect(snapshot.taskSlab > 0)
    #expect(snapshot.dispatchModule > 0)
    #expect((snapshot.dispatchOffset > 0) == options.contains("-static-stdlib"))
  }

  @Test func memoryThatIsPutAsideIsHeldAndHolds() throws {
    let source = try TestProgram("protected_blocks.c")
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.leaks == ["malloc in leak": Figures(1, 775, roots: 1)])
    #expect(program.report.possible.count == 0)
  }

  /// Where the system has no such rings there is nothing to see.
  @Test(arguments: [[], ["thread"]])
  func whatTheKernelIsToDoHoldsBlocks(arguments: [String]) throws {
    let run = try TracedRun([try TestProgram("io_ring.c").path.string] + arguments)
    guard run.recorded.outputText == "done\n" else { return }
    let program = try LeakedProgram(run.root())
    #expect(program.leaks == ["malloc in leak": Figures(1, 44202, roots: 1)])
  }

  @Test func aLargeBlockHoldsOthersOnlyWhereItIsHeld() throws {
    let source = try TestProgram("leaked_large.c", flags: ["-O0"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.report.leaked.count == 101)
    #expect(program.report.leaked.bytes == (1 << 20) + 100 * 40)
    #expect(program.report.possible.count == 0)
  }

  /// Of the three slabs, only the one without neighbors is a possible leak, with what it holds.
  @Test func pointersToSlicesHoldTheirSlabs() throws {
    let source = try TestProgram("slices.c", flags: ["-O0"])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(program.report.leaked.count == 0)
    #expect(program.report.possible.count == 21)
    let slices = try #require(program.report.snapshot.slices)
    #expect((slices.count, slices.bytes) == (2, 992))
  }

  @Test(arguments: ["-O0", "-O2"])
  func framesOfCoroutinesAreNamed(option: String) throws {
    let source = try TestProgram("coroutines.cpp", flags: ["-std=c++20", option])
    let program = try LeakedProgram(try TracedRun([source.path.string]).root())
    #expect(
      program.leaks.keys.sorted()
        == ["Foo", "app::line coroutine frame", "app::work coroutine frame"])
    #expect(program.leaks["Foo"] == Figures(2, 144, roots: 0))
  }

  private static let gobjectFlags: [String]? = {
    let run = try? ProcessRun.run(
      ["/usr/bin/env", "pkg-config", "--cflags", "--libs", "gobject-2.0"])
    guard let run, run.status == 0 else { return nil }
    return ["-Wl,--no-as-needed"]
      + run.outputText.split(whereSeparator: \.isWhitespace).map(String.init)
  }()

  @Test(.enabled(if: gobjectFlags != nil, "needs the headers of GObject"))
  func instancesOfGObjectHaveTheirClass() throws {
    let source = try TestProgram("gobjects.c", flags: try #require(Self.gobjectFlags))
    // Until GLib 2.76 they are in slices of blocks otherwise.
    let run = try TracedRun([source.path.string], environment: ["G_SLICE=always-malloc"])
    let program = try LeakedProgram(try run.root())
    #expect(
      program.leaks == [
        "SamplePlain": Figures(3, 96, roots: 3), "SamplePrivate": Figures(2, 160, roots: 1),
        "GObject": Figures(1, 24, roots: 1), "SampleBase": Figures(2, 80, roots: 1),
      ])
    // Those that are held are so by their beginnings, behind their private data.
    #expect(!program.possible.keys.contains { $0.hasPrefix("Sample") })
  }

  private static let canMakeUserNamespaces: Bool = {
    let run = try? ProcessRun.run(["/usr/bin/unshare", "-U", "/bin/true"])
    return run?.status == 0
  }()

  @Test(.enabled(if: canMakeUserNamespaces, "the kernel refuses unshare(CLONE_NEWUSER) here"))
  func leaksAreTheSameInAContainer() throws {
    // Static, so that the recorder begins in the program that it starts.
    let container = try TestProgram("deny_ptrace.c", flags: ["-static"])
    let run = try TracedRun(
      [container.path.string, "-U"] + Self.cProgram(),
      start: .preload(["MEMTRACE_OUTPUT=root.mtrace"]))
    let program = try LeakedProgram(try run.root())
    #expect(program.report.snapshot.isComplete)
    #expect(program.report.snapshot.movingThreads == 0)
    #expect(program.leaksByCase == (try LeakedProgram.expected(TestProgram("leaks.c"))))
    #expect(program.possibleByCase == (try Self.possibleOutside()))
  }

  private static func possibleOutside() throws -> [String: Int] {
    try LeakedProgram(try TracedRun(cProgram()).root()).possibleByCase
  }

  @Test func leaksOfAPackedTraceAreTheSame() throws {
    let run = try TracedRun(try Self.cProgram())
    let packed = run.directory.path.appending("packed.mtrace")
    let pack = try ProcessRun.run([
      BuiltProducts.memtrace.string, "pack", run.directory.path.appending("root.mtrace").string,
      "-o", packed.string,
    ])
    try #require(pack.status == 0, "\(pack.errorText)")
    let live = try LeakedProgram(try run.root()).report
    let stored = try LeakedProgram(try Trace(path: packed)).report
    #expect(stored.rows == live.rows)
    #expect(stored.treeGroups == live.treeGroups)
    #expect(stored.possibleRows == live.possibleRows)
    #expect(stored.leaked.count == 35)
  }

  /// The process is killed long after a snapshot; a cut file is a normal file.
  @Test func leaksOfATraceThatWasCutAfterTheSnapshot() throws {
    let run = try TracedRun([ScenarioTests.program(), "snapshot-then-die"])
    let path = run.directory.path.appending("root.mtrace")
    let whole = try LeakedProgram(try Trace(path: path)).report
    #expect(whole.leaked.count == 1 && whole.leaked.bytes == 700)
    #expect(whole.snapshot.isComplete)

    let bytes = try Data(contentsOf: URL(fileURLWithPath: path.string))
    var states: [Bool] = []
    for eighth in 1..<8 {
      let file = try TemporaryFile([UInt8](bytes.prefix(bytes.count * eighth / 8)))
      let trace = try Trace(path: file.path)
      states.append(trace.snapshots.first?.isComplete == true)
      guard states.last == true else { continue }
      let rest = try LeakedProgram(trace).report
      #expect(rest.rows == whole.rows)
      #expect(rest.snapshot == whole.snapshot)
    }
    // Some cuts are behind the snapshot, and none of these lost it.
    #expect(states.last == true)
    #expect(states == states.sorted { !$0 && $1 })
  }
}
