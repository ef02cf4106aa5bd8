import TraceReader

/// Blocks that the system's own libraries never free, by design or because the process ends anyway.
///
/// No program can do anything about them, so they are counted apart; `--all` shows them. Each rule
/// is listed in docs/leaks.md with the reason.
enum SystemLeaks {
  /// A rule: blocks allocated by these functions of these images.
  struct Rule: Sendable, Hashable {
    /// What reports call it.
    var name: String
    /// Why its blocks are none of the program's business.
    var reason: String
    /// The beginnings of the image's file name; empty: any.
    var images: [String] = []
    /// The beginnings of the names of functions, one of which the frame must have; empty: any.
    var functions: [String] = []
    /// The sizes of its blocks are multiples of this.
    var sizeUnit: UInt64 = 1
  }

  /// What the recorder allocates itself, known by its thread.
  static let recorder = Rule(name: "recorder", reason: "memtrace's own blocks")

  /// What may be no leak for want of events that are missing.
  static let perhapsFreed = Rule(
    name: "damaged file",
    reason: "a part of the file is missing in which they may have been freed")

  /// The rules that go by the stack.
  static let rules: [Rule] = [
    Rule(
      name: "dynamic loader",
      reason: "its tables of objects, scopes and thread-local variables stay until the end",
      images: ["ld-linux", "ld-2."]),
    Rule(
      name: "tcmalloc",
      reason: "the object that its own replaces as it starts stays until the end",
      images: ["libtcmalloc"],
      functions: ["MallocExtension::Register"]),
    Rule(
      name: "XCTest harness",
      reason: "its suites and their results hold each other until the process ends",
      images: ["libXCTest.so"],
      functions: [
        "XCTMain", "closure #1 in XCTMain", "XCTestSuite", "XCTestCaseSuite", "XCTestRun",
      ]
    ),
    // Of each pattern, which points to no other block; nearly all functions of the library have no names.
    Rule(
      name: "fontconfig patterns",
      reason: "their elements are held by distances from them, which are no pointers",
      images: ["libfontconfig.so"],
      functions: ["libfontconfig.so", "FcPattern"],
      sizeUnit: 256),
    // In the library, or in a program that it is linked into. Of each error that it reports while the
    // program goes on, as of a continuation that nobody resumes, it keeps all messages so far anew.
    Rule(
      name: "Swift runtime",
      reason: "the messages of the errors that it reports stay",
      functions: ["swift::fatalErrorv(", "swift_reportError", "swift_asprintf("]),
  ]

  /// The rule for a stack: that of the library in which its innermost frame lies that is no
  /// allocator's; nil where there is none.
  ///
  /// It goes for blocks of its sizes.
  static func rule(for frames: some Sequence<ReportFrame>) -> Rule? {
    guard let frame = frames.first(where: { !isAllocator($0) }), let image = frame.imageName else {
      return nil
    }
    return rules.first { rule in
      (rule.images.isEmpty || rule.images.contains { image.hasPrefix($0) })
        && (rule.functions.isEmpty || rule.functions.contains { frame.shortName.hasPrefix($0) })
    }
  }

  private static func isAllocator(_ frame: ReportFrame) -> Bool {
    let image = frame.imageName ?? ""
    return image.hasPrefix("libmemtrace.so")
      || [
        "malloc", "calloc", "realloc", "posix_memalign", "strdup", "swift_slowAlloc",
        "swift_allocObject",
      ].contains(frame.shortName)
  }
}

/// The leaked blocks that a built-in rule leaves out.
public struct SystemLeakSum: Sendable, Encodable {
  /// The name of the rule.
  public var rule: String
  /// Why they are left out.
  public var reason: String
  /// How many blocks, and their bytes.
  public var blocks: BlockSum
  /// The blocks, when they are asked for.
  public var rows: LongList<LeakRow>
}
