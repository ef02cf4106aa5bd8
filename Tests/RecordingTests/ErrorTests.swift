import Foundation
import SystemPackage
import Testing
import TraceReader

/// Misuse that ends the process is in the trace nevertheless.
@Suite struct ErrorTests {
  @Test func aDoubleFreeInTwoThreadsHasThreeStacks() throws {
    let program = try TestProgram("double_free.c")
    let run = try TracedRun([program.path.string])
    #expect(run.plain.signal == 6, "the C library aborts")

    let root = try run.root()
    let errors = try root.replay().errors
    let error = try #require(errors.first { $0.kind == .doubleFree })
    #expect(error.block?.size == 27001)
    #expect(error.firstFree != nil)
    #expect(error.firstFree?.thread != error.offending.thread)
    let stacks = [error.block?.allocation.stack, error.firstFree?.stack, error.offending.stack]
    #expect(Set(stacks).count == 3)
    for stack in stacks.compactMap({ $0 }) {
      let frame = try #require(root.stacks.frames(of: stack).first)
      let image = root.images.image(containing: frame.lookupAddress, seenBy: frame.node)
      #expect(image.map { FilePath($0.path).lastComponent } == program.path.lastComponent)
    }
    // Whether by the program's abort or by the C library's own, the trace says how it ended.
    #expect(root.ending == .abort || root.ending == .signal(6))
  }

  /// The child's trace does not have the allocation, but both frees.
  @Test func aBlockFromBeforeAForkThatIsFreedTwiceHasTwoStacks() throws {
    let run = try TracedRun([try TestProgram("inherited_block.c").path.string])
    #expect(run.plain.outputText == "child 6\n", "the C library aborts")

    let traces = try run.allTraces()
    try #require(traces.count == 2)
    #expect(try traces[0].replay().errors.isEmpty)
    let errors = try traces[1].replay().errors
    #expect(errors.map(\.kind) == [.doubleFree])
    let error = try #require(errors.first)
    #expect(error.block == nil)
    let names = FrameNames(traces[1])
    let first = try #require(error.firstFree)
    #expect(names.names(of: first.stack).first == "consume")
    #expect(names.names(of: error.offending.stack).first == "clean_up")
  }

  /// For the number of its elements `delete[]` goes back, and `new[]` forwards.
  @Test(arguments: [
    (
      "object", 8, "in front of a block of 1.17 KiB",
      "free what operator new returned with delete, not with delete[], which goes 8 B back to "
        + "where the number of an array's elements would be"
    ),
    (
      "malloc", 8, "in front of a block of 1.17 KiB",
      "free what malloc returned with free, not with delete[], which goes 8 B back to where the "
        + "number of an array's elements would be"
    ),
    (
      "array", 8, "inside a block of 5.87 KiB",
      "free the array with delete[], not with delete: operator new[] put the number of its "
        + "elements in front of them"
    ),
    (
      "wide", 16, "inside a block of 5.95 KiB",
      "free the array with delete[], not with delete: operator new[] put the number of its "
        + "elements in front of them"
    ),
    (
      "aligned", 64, "inside a block of 6.00 KiB",
      "free the array with delete[] and the same alignment, not with delete: operator "
        + "new[](align_val_t) put the number of its elements in front of them"
    ),
  ])
  func anArrayThatIsFreedAsAnObjectIsToldFromAnyPointer(
    what: String, distance: Int, place: String, advice: String
  ) throws {
    let run = try HeapRun(TestProgram("array_deletes.cpp"), [what], options: [])
    let lines = try run.lines(of: ["errors", "root.mtrace"])
    #expect(
      lines.contains {
        $0.hasPrefix("1. Invalid free of 0x") && $0.contains(" \(distance) B \(place)")
      }, "\(lines)")
    #expect(lines.contains("To fix: \(advice)"), "\(lines)")
  }

  /// Functions that allocate and free for others can mend nothing.
  @Test(arguments: [
    ("one", [], "my_free frees the block twice; clear the pointer after the first time"),
    ("two", [], "consume and clean_up both free the block by my_free; let one of them own it"),
    (
      "past", ["--redzones"],
      "look at what is written to the block that load allocates: it needs more bytes, or a loop or "
        + "a copy goes too far; record --guard=46011 --guard-alignment=1 shows who writes"
    ),
  ])
  func whoUsesFunctionsThatFreeForOthersIsNamed(
    what: String, options: [String], advice: String
  ) throws {
    let run = try HeapRun(TestProgram("wrapped.c"), [what], options: options)
    let lines = try run.lines(of: ["errors", "root.mtrace"])
    #expect(lines.contains("To fix: \(advice)"), "\(lines)")
  }

  @Test(arguments: [
    (
      "aligned", [],
      "free what operator new(align_val_t, nothrow) returned with delete and the same alignment"
    ),
    (
      "base", [],
      "delete as the type that was allocated; a base class needs a virtual destructor"
    ),
    (
      "copy", [],
      "Buffer::~Buffer() frees the block for two objects that are copies of each other, or twice "
        + "for one: copy the block where the object is copied (copy constructor and assignment), "
        + "or let a std::shared_ptr own it"
    ),
    (
      "shape", ["--zombies"],
      "ask_shape(Shape*) uses what drop_shape(Shape*) has freed; free the block after its last "
        + "use, or clear the pointer that ask_shape(Shape*) took"
    ),
  ])
  func whatToChangeInAClassIsSaid(what: String, options: [String], advice: String) throws {
    let run = try HeapRun(TestProgram("freed_objects.cpp"), [what], options: options)
    let lines = try run.lines(of: ["errors", "root.mtrace"])
    #expect(lines.contains("To fix: \(advice)"), "\(lines)")
  }

  /// The operators of a C++ library that is linked in are recorded as malloc and free.
  @Test(arguments: [["-static-libstdc++", "-static-libgcc"], []])
  func operatorsThatAreNotSeenAreSaidToBeMissing(flags: [String]) throws {
    let program = try TestProgram("linked_library.cpp", flags: flags)
    let run = try HeapRun(program, [], options: [])
    #expect(try run.root().replay().errors.count == (flags.isEmpty ? 1 : 0))
    let coverage = try run.lines(of: ["info", "root.mtrace"]).filter { $0.hasPrefix("Coverage") }
    let gap =
      "Coverage: \(program.path) has the C++ library linked in, so that operator new and delete are "
      + "recorded as the malloc and free that they call"
    #expect(
      coverage == [flags.isEmpty ? "Coverage: complete; nothing is known to be missing." : gap])
  }

  /// glibc's own checks, in a library that only old versions of names lead to.
  @Test(.enabled(if: hasCheckingAllocator), arguments: ["double_free.c", "table.c"])
  func theAllocatorThatChecksIsKept(program: String) throws {
    let run = try TracedRun(
      [try TestProgram(program).path.string],
      environment: ["LD_PRELOAD=libc_malloc_debug.so.0", "MALLOC_CHECK_=3"])
    if program == "double_free.c" {
      #expect(run.plain.errorText.contains("free(): invalid pointer"))
      #expect(try run.root().replay().errors.contains { $0.kind == .doubleFree })
    }
  }

  private static var hasCheckingAllocator: Bool {
    ["/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"].contains {
      FileManager.default.fileExists(atPath: "\($0)/libc_malloc_debug.so.0")
    }
  }

  @Test func theTableOfAKnownProgramIsExact() throws {
    let run = try TracedRun([try TestProgram("table.c").path.string])
    let result = try run.root().replay()

    let large = Self.tally(result, SizeClass(containing: 1000))
    let small = Self.tally(result, SizeClass(containing: 12))
    #expect((large.totalCount, large.totalBytes) == (5, 5000))
    #expect((large.liveCount, large.liveBytes) == (1, 1000))
    #expect((large.freedCount, large.freedBytes) == (4, 4000))
    #expect((small.totalCount, small.totalBytes) == (15, 180))
    #expect((small.liveCount, small.liveBytes) == (5, 60))
    #expect((small.freedCount, small.freedBytes) == (10, 120))
  }

  private static func tally(_ result: ReplayResult, _ sizeClass: SizeClass) -> Tally {
    result.sites.filter { $0.sizeClass == sizeClass }.reduce(Tally()) { $0 + $1.tally }
  }
}
