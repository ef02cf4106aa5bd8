import Foundation
import Testing
import TraceReader
import TraceTestSupport

/// Types of blocks, from the compiled program to the rows of the Allocations table.
@Suite struct TypeTests {
  /// Live and freed blocks of each category.
  private func rows(
    _ source: String, _ flags: [String], grouping: String = "category"
  ) throws -> [[String: Any]] {
    try rows(["allocations", "--group-by", grouping], source, flags)
  }

  /// The rows of a report on a program.
  private func rows(
    _ report: [String], _ source: String, _ flags: [String]
  ) throws -> [[String: Any]] {
    let program = try TestProgram(source, flags: flags)
    let run = try ProcessRun.run(
      [BuiltProducts.memtrace.string] + report
        + ["--format", "json", "--top", "0", "--", program.path.string])
    let start = try #require(run.outputText.firstIndex(of: "{"))
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(run.outputText[start...].utf8))
        as? [String: Any])
    return try #require(document["rows"] as? [[String: Any]])
  }

  private func categories(
    _ source: String, _ flags: [String], grouping: String = "category"
  ) throws -> [String: [Int]] {
    var result: [String: [Int]] = [:]
    for row in try rows(source, flags, grouping: grouping) {
      let name = try #require(row["name"] as? String)
      result[name] = ["persistentCount", "transientCount"].compactMap { row[$0] as? Int }
    }
    return result
  }

  @Test(arguments: [["-O0"], ["-O1"], ["-O2"], ["-O2", "-s"], ["-O0", "-fno-rtti"]])
  func cxxObjectsHaveTheirDynamicClass(flags: [String]) throws {
    let found = try categories("types.cpp", flags)

    #expect(found["geo::Circle"] == [0, 110])
    #expect(found["geo::Square"] == [0, 100])
    #expect(found["Label"] == [0, 100])
    #expect(found["(anonymous namespace)::Hidden"] == [20, 0])
    #expect(found["Holder<std::string>"] == [1, 0])
    #expect(found["std::_Sp_counted_ptr_inplace<geo::Square>"] == [0, 1])
    #expect(found["geo::Shape"] == nil, "a base is no object's class")
  }

  /// The size of the class and who allocated the block tell that it only begins with an object.
  @Test(arguments: ["-O0", "-O2"])
  func blocksAreNotNamedAfterTheirFirstMember(optimisation: String) throws {
    let expected = [
      "Drawing": 1, "Page": 1, "Padded": 1, "Plain[]": 1, "Buffer": 1, "Circle": 2,
      "std::vector<Circle> storage": 1,
    ]
    func counts(_ report: String, _ key: String) throws -> [String: Int] {
      var found: [String: Int] = [:]
      for row in try rows([report], "first_members.cpp", [optimisation, "-g"]) {
        guard let name = row["name"] as? String, let count = row[key] as? Int else { continue }
        if expected.keys.contains(name) { found[name] = count }
      }
      return found
    }
    #expect(try counts("allocations", "persistentCount") == expected)
    #expect(try counts("heap", "count") == expected)
  }

  @Test func allocatorsOfTheProgramAreSeenThrough() throws {
    let found = try categories("custom_allocator.cpp", [], grouping: "type")
    #expect(found["std::vector<long, Allocator<long>> storage"] == [1, 0], "\(found)")
    #expect(found["char[]"] == [1, 0])
  }

  /// When they are freed, only the word of their base is in them.
  @Test(arguments: ["-O0", "-O2"])
  func countsOfSharedPointersAreNamedAfterTheObject(optimisation: String) throws {
    let found = try categories("shared_counts.cpp", [optimisation])
    #expect(found["std::_Sp_counted_ptr_inplace<Plain>"] == [0, 1])
    #expect(found["std::_Sp_counted_ptr<Plain*>"] == [0, 1])
    #expect(!found.keys.contains { $0.contains("_Sp_counted_base") })
  }

  /// Live ones by their own words: with one stack were made others, which alone were looked at.
  @Test(arguments: [[], ["-static-stdlib", "-Xlinker", "-s"]])
  func instancesOfGenericClassesAreToldApart(flags: [String]) throws {
    var found: [String: Int] = [:]
    for row in try rows(["heap"], "instances.swift", flags + ["-module-name", "app"]) {
      guard let name = row["name"] as? String, let count = row["count"] as? Int else { continue }
      let isArray = name.hasSuffix(" storage") && row["bytes"] as? Int == 40 * count
      if name.contains("Held<") || isArray { found[name] = count }
    }
    let arrays = ["Array<Int> storage": 2, "Array<Double> storage": 1]
    #expect(found == arrays.merging(["app.Held<Int>": 2, "app.Held<Double>": 1]) { $1 })
  }

  /// By the description in their headers, of the executable or of the library, also once it is packed.
  @Test func exceptionsHaveTheTypeThatWasThrown() throws {
    let folder = try ScratchDirectory()
    let program = try TestProgram("thrown.cpp").path.string
    _ = try HeapRun.memtrace(["record", "-q", "-o", "x.mtrace", "--", program], in: folder)
    func rows(_ trace: String) throws -> [String] {
      let heap = try HeapRun.memtrace(["heap", trace, "--format", "csv"], in: folder)
      return heap.outputText.split(whereSeparator: \.isNewline).map {
        $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      }.filter { $0.count > 5 && $0[5] == "C++" }.map { "\($0[0]) \($0[3])" }.sorted()
    }
    let found = try rows("x.mtrace")
    #expect(found.contains("1 app::Failure"), "\(found)")
    #expect(found.contains("1 std::out_of_range"))
    #expect(!found.contains { $0.contains("C++ exception") })
    _ = try HeapRun.memtrace(["pack", "-q", "x.mtrace"], in: folder)
    #expect(try rows("x.mtrace.zst") == found)
    #expect(try categories("thrown.cpp", ["-O0"])["C++ exception"] == [2, 1])
  }

  @Test func blocksWithoutATypeKeepTheirSize() throws {
    #expect(try categories("types.cpp", ["-O0"])["Malloc-1008"] == [30, 0])
  }

  @Test func theLibrarysBlocksAreNamedAfterTheirContainer() throws {
    let found = try categories("types.cpp", ["-O0"])

    #expect(found["std::vector<geo::Shape*> storage"] == [0, 10])
    #expect(found["std::vector<Plain*> storage"] == [0, 6])
  }

  /// One element is what the allocator is of; what is larger may have other things behind it.
  @Test(arguments: ["-O0", "-O2"])
  func containersOfTheProgramAreNamedByTheirAllocator(optimisation: String) throws {
    let found = try categories("own_containers.cpp", [optimisation, "-g"])
    #expect(found["Plain storage"] == [1, 0])
    #expect(found["Shape storage"] == [1, 0])
    #expect(found["Stack<Plain>::Node"] == [4, 0])
    #expect(found["Stack<Shape>::Node"] == [1, 0])
    #expect(found["Malloc-800"] == [1, 0])
    // Without debug information nobody knows how large an element is.
    let bare = try categories("own_containers.cpp", ["-O0", "-g0"])
    #expect(bare["Plain storage"] == [1, 0])
    #expect(bare["Shape"] == [1, 0])
    #expect(bare["Stack<Plain>::Node storage"] == [4, 0])
    #expect(bare["Stack<Shape>::Node storage"] == [1, 0])
  }

  /// The line of the program names the object alone, not what its constructor allocates.
  @Test func whatALibraryAllocatesIsNotWhatTheCallerMakes() throws {
    let found = try categories("library_blocks.cpp", ["-O0", "-g"], grouping: "type")
    #expect(found["std::ifstream"] == [1, 0])
    #expect(found["operator new[] in main"] == [1, 0])
  }

  /// Nor is what a constructor's templates allocate, inlined or not.
  @Test(arguments: ["-O0", "-O2"])
  func eachOfNestedExpressionsNamesItsOwnObject(optimisation: String) throws {
    let found = try categories("nested_news.cpp", [optimisation, "-g"], grouping: "type")
    #expect(found["Outer"] == [1, 0])
    #expect(found["Inner"] == [2, 0])
    #expect(found["Other[]"] == [1, 0])
    #expect(found["Other"] == [1, 0])
    #expect(found["std::shared_ptr<Other>"] == [1, 0])
    #expect(found["std::unique_ptr<Inner>"] == [1, 0])
  }

  /// Nor is a class's own `operator new`, or the allocator of a container, what is named.
  @Test(arguments: ["-O0", "-O2"])
  func whatAClassesOwnOperatorAllocatesIsNamedWhereItIsMade(optimisation: String) throws {
    let found = try categories("class_operators.cpp", [optimisation, "-g"], grouping: "type")
    #expect(found["Derived"] == [1, 0])
    #expect(found["Derived[]"] == [1, 0])
    #expect(found["std::vector<short, Arena<short>> storage"] == [0, 1])
  }

  @Test(
    .enabled(if: TestProgram.has("rustc"), "needs rustc"),
    arguments: [
      (["-g"], true), (["-g", "-C", "symbol-mangling-version=v0"], true),
      (["-g", "-O"], true), ([], false),
    ] as [([String], Bool)])
  func theRustLibrarysBlocksAreNamedAfterTheirContainer(flags: [String], isExact: Bool) throws {
    let found = try categories("containers.rs", flags)
    guard isExact else {
      // Legacy symbols without debug information do not say what is in a container.
      #expect(found["Vec storage"] != nil || found["Vec<u16> storage"] != nil)
      return
    }
    #expect(found["Box<containers::Node>"] == [3, 0])
    #expect(found["Rc<containers::Point>"] == [1, 0])
    #expect(found["Arc<containers::Point>"] == [1, 0])
    #expect(found["Vec<Box<containers::Node>> storage"] == [1, 0])
    #expect(found["Vec<u16> storage"]?.first == 1)
    #expect(found["VecDeque<containers::Point> storage"]?.first == 1)
    #expect(found["BTreeMap<u32, containers::Point> node"] == [4, 0])
    #expect(found["HashMap<u32, containers::Point> storage"]?.first == 1)
    // Optimised, the block of the circle is gone, and the string's functions are inlined.
    guard !flags.contains("-O") else { return }
    #expect(found["Box<containers::Circle>"] == [1, 0])
    #expect(found["String storage"]?.first == 1)
  }

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"))
  func pythonObjectsHaveTheirClass() throws {
    struct Document: Decodable {
      struct Row: Decodable {
        var name: String
        var language: String
        var count: UInt64
      }
      var rows: [Row]
    }
    let directory = try ScratchDirectory()
    let environment = TracedRun.minimalEnvironment + ["PYTHONMALLOC=malloc"]
    let record = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "record", "-q", "-o", "root.mtrace", "--",
        "/usr/bin/python3", TestProgram.sources.appending("objects.py").string,
      ], environment: environment, directory: directory.path)
    #expect(record.outputText == "200 10\n")
    #expect(record.status == 0)
    let run = try ProcessRun.run(
      [
        BuiltProducts.memtrace.string, "heap", "--format", "json", "--top", "0",
        directory.path.appending("root.mtrace").string,
      ])
    let document = try JSONDecoder().decode(Document.self, from: Data(run.output))
    let python = document.rows.filter { $0.language == "Python" }
    let counts = Dictionary(
      python.map { ($0.name, $0.count) }, uniquingKeysWith: { $0 + $1 })
    #expect(counts["Node"] == 100)
    #expect(counts["Slotted"] == 50)
    #expect(counts["Circle"] == 30)
    #expect(counts["Made"] == 20)
    #expect(counts["collections.OrderedDict"] == 10)
    for builtin in ["dict", "str", "tuple", "function", "type"] {
      #expect((counts[builtin] ?? 0) > 10, "\(builtin)")
    }
  }

  /// Every free may meet a look at its block, and must neither hang nor lose anything.
  @Test func objectsMayBeFreedByAnyThreadAtAnyTime() throws {
    let run = try TracedRun([try TestProgram("type_races.cpp", flags: ["-O1"]).path.string])
    let trace = try run.root()
    let sites = try trace.replay(ReplayOptions()).sites

    for (size, count) in [(UInt64(16), UInt64(80_000)), (30_016, 800)] {
      let sizeClass = SizeClass(containing: size)
      let stacks = Set(sites.filter { $0.sizeClass == sizeClass }.map(\.stack))
        .filter { trace.types.finding(stack: $0, sizeClass: sizeClass) != nil }
      let made = sites.filter { $0.sizeClass == sizeClass && stacks.contains($0.stack) }
      #expect(made.map(\.tally.totalCount).reduce(0, +) == count)
      #expect(made.map(\.tally.freedCount).reduce(0, +) == count)
    }
  }

  /// Blocks that would have been looked at a few allocations later are looked at in the end.
  @Test(arguments: ["return", "_exit", "handler", "abort", "signal"])
  func objectsHaveTheirTypesHoweverTheProcessEnds(way: String) throws {
    let program = try TestProgram("typed_ends.cpp", flags: ["-O0"])
    let run = try HeapRun(program, [way], options: ["--snapshot-on-crash"])
    let trace = try run.root()
    let types = trace.types
    let sites = try trace.replay(ReplayOptions()).sites
    let circles = sites.filter { site in
      types.finding(stack: site.stack, sizeClass: site.sizeClass)?.types
        .contains { types[$0]?.name == "6Circle" } == true
    }
    #expect(circles.map(\.tally.totalCount) == [10])
  }

  @Test func groupingByTypeReadsTheSource() throws {
    let found = try categories("types.cpp", ["-O0"], grouping: "type")

    #expect(found["Plain"] == [30, 0])
    #expect(found["geo::Circle"] == [0, 110])
    let table = try categories("table.c", [], grouping: "type")
    #expect(table["malloc in main"] == [6, 14])
  }

  @Test(arguments: [
    ["-Onone"], ["-O"], ["-O", "-static-stdlib"], ["-O", "-static-stdlib", "-Xlinker", "-s"],
  ])
  func swiftObjectsHaveTheirTypes(flags: [String]) throws {
    let found = try categories("types.swift", flags + ["-module-name", "app"])

    for (name, count) in [
      ("app.Leaf", 40), ("app.Outer.Inner", 20), ("app.Pair<Int, String>", 20),
      ("app.Pair<Array<Double>, app.Outer.Value<Int>>", 20), ("app.Hidden", 20),
      ("app.Node<(Int, String)>", 20), ("app.Node<Optional<Int>>", 20),
      ("app.Node<app.Leaf.Type>", 20), ("app.Node<AnyObject>", 20), ("app.Player", 20),
      ("Closure context {var Int, app.Leaf}", 20), ("Box<(app.Tree, app.Tree)>", 20),
      ("Box<(Int, String, Double, Int)>", 20), ("Error box<app.Failure>", 20),
      ("Dictionary<String, Array<Int>> storage", 20),
    ] {
      #expect(found[name]?.first == count, "\(name)")
    }
    #expect(found["Array<() -> Int> storage"]?.first == 1)
    #expect(found["Array<UInt16> storage"]?.first == 1)
    #expect(found["Set<Int> storage"]?.first == 1)
  }

  @Test func classesOfCxxThatSwiftCountsAreNamed() throws {
    let header = TestProgram.sources.appending("cxx_classes.h").string
    let interoperation = ["-cxx-interoperability-mode=default", "-import-objc-header", header]
    let found = try categories("cxx_classes.swift", interoperation + ["-module-name", "app"])

    #expect(found["app.Node<Texture>"]?.first == 20)
    #expect(found["Array<Texture> storage"]?.first == 20)
  }

  @Test(arguments: [["-Onone"], ["-O"]])
  func classesOfEmbeddedSwiftAreNamedByTheirSymbols(flags: [String]) throws {
    let embedded = ["-enable-experimental-feature", "Embedded", "-wmo", "-module-name", "app"]
    let found = try categories("embedded.swift", flags + embedded)

    for name in ["app.Shape", "app.Square", "app.Tree<Int>"] {
      #expect(found[name]?.first == 10, "\(name)")
    }
  }

  @Test func tasksBelongToTheLibraryOfConcurrency() throws {
    let rows = try rows("task_slabs.swift", ["-parse-as-library", "-module-name", "app"])

    let tasks = try #require(rows.first { $0["name"] as? String == "Swift Task" })
    let type = try #require(tasks["type"] as? [String: Any])
    let image = try #require(type["image"] as? String)
    #expect(image.hasSuffix("/libswift_Concurrency.so"))
  }

  @Test(arguments: [["-Onone"], ["-O"]])
  func closuresOfCAreToldByTheirRuntime(flags: [String]) throws {
    let found = try categories("closures.swift", flags + ["-module-name", "app"])

    // A work item copies its closure into one of its own.
    #expect(found["__NSMallocBlock__"]?.first == 30)
  }

  @Test(arguments: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]])
  func objectsOfLibdispatchAreToldByTheirTables(flags: [String]) throws {
    let found = try categories("dispatched.swift", flags)

    #expect(found["OS_dispatch_queue_serial"]?.first == 4)
    #expect(found["OS_dispatch_queue_concurrent"]?.first == 4)
    #expect(found["OS_dispatch_group"]?.first == 5)
    #expect(found["OS_dispatch_semaphore"]?.first == 6)
    #expect(found["OS_dispatch_source"]?.first == 7)
    #expect(found["OS_dispatch_data"]?.first == 8)
    #expect(found["Dispatch continuation"]?.first == 90)
  }

  @Test(arguments: [["-Onone"], ["-O"]])
  func closuresAreNamedByAllThatTheyCapture(flags: [String]) throws {
    let found = try categories("captures.swift", flags + ["-module-name", "app"])

    for captures in [
      "Optional<Actor>", "Task<app.Leaf, Never>",
      "(ApplesAndPears: Int, SeaAnemone: app.Leaf)",
      "(app.Leaf, Array<app.Leaf>, Optional<app.Leaf>, app.Leaf)",
      "(app.Pair<app.Leaf>, app.Pair<app.Leaf>, app.Point, app.Point)", "(Int32) -> ()",
    ] {
      #expect(found["Closure context {\(captures), app.Leaf}"]?.first == 1, "\(captures)")
    }
  }

  @Test func closuresAreNamedByAssociatedTypesOfSeveralParameters() throws {
    let found = try categories("associated_captures.swift", ["-Onone", "-module-name", "app"])

    for captures in [
      "(T.Output, U.Output) -> V",
      "(Optional<T1.Output>, app.Just<T1.Output, T1.Failure>, T.Output) -> T.Failure",
      "(T1.Output.Element, T1.Output, T1.Output.Index) -> T.Output",
      "(T.Output, T1.Output, T2.Output, T.Output) -> T2.Failure",
    ] {
      #expect(found["Closure context {\(captures)}"]?.first == 1, "\(captures)")
    }
  }
}
