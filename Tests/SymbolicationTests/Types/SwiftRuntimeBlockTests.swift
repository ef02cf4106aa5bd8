import Testing
import TraceReader

@testable import Symbolication

/// Names of what the Swift runtime allocates, from the functions on the stack, leaf first.
@Suite struct SwiftRuntimeBlockTests {
  private func name(_ functions: [String]) -> String? {
    SwiftRuntimeBlocks.name(
      of: functions.map { function in
        SymbolicatedFrame(
          programCounter: Address(1),
          function: FunctionName(
            raw: function, short: function, full: function, base: function, language: .cxx))
      })?.short
  }

  private let counts = "swift::RefCounts<swift::RefCountBitsT<(swift::RefCountInlinedness)1>>"

  @Test func countsHaveSideTables() {
    #expect(
      name(["operator new", "\(counts)::allocateSideTable", "swift_weakInit"])
        == "Swift side table")
    #expect(name(["\(counts)::incrementSlow"]) == "Swift side table")
    #expect(
      name([
        "\(counts)::allocateSideTable", "swift_weakInit", "_swift_release_dealloc",
        "\(counts)::doDecrementSlow<(swift::PerformDeinit)1>",
      ]) == "Swift side table")
  }

  @Test func groupsOfTasksHaveAQueue() {
    #expect(
      name(["operator new", "swift_taskGroup_initialize", "withTaskGroup"])
        == "Swift task group queue")
  }

  @Test func memoryBehindPointersHasItsType() {
    func name(_ functions: [(raw: String, full: String)]) -> String? {
      SwiftPointerBlocks.name(
        of: functions.map { raw, full in
          SymbolicatedFrame(
            programCounter: Address(1),
            function: FunctionName(raw: raw, short: full, full: full, base: full, language: .swift))
        })?.short
    }
    let pointer = (
      raw: "$sSp8allocate8capacitySpyxGSi_tFZ3app4NodeCSgSaySiGt_Tt0g5",
      full: "generic specialization <(app.Node?, [Swift.Int])> of static "
        + "Swift.UnsafeMutablePointer.allocate(capacity: Swift.Int) -> "
        + "Swift.UnsafeMutablePointer<A>"
    )
    let buffer = (
      raw: "$sSr8allocate8capacitySryxGSi_tFZSi_Tt0g5",
      full: "generic specialization <Swift.Int> of static "
        + "Swift.UnsafeMutableBufferPointer.allocate(capacity: Swift.Int) -> "
        + "Swift.UnsafeMutableBufferPointer<A>"
    )
    let runtime = (raw: "swift_slowAlloc", full: "swift_slowAlloc")
    #expect(
      name([runtime, pointer]) == "UnsafeMutablePointer<(app.Node?, [Int])> storage")
    #expect(name([pointer, buffer]) == "UnsafeMutableBufferPointer<Int> storage")
    let serialized = (
      raw: "$sSp8allocate8capacitySpyxGSi_tFZSo11epoll_eventV_Tgq5",
      full: "generic specialization <serialized, __C.epoll_event> of static "
        + "Swift.UnsafeMutablePointer.allocate(capacity: Swift.Int) -> "
        + "Swift.UnsafeMutablePointer<A>"
    )
    #expect(name([serialized]) == "UnsafeMutablePointer<epoll_event> storage")
    // Of no one type.
    let generic = (
      raw: "$sSp8allocate8capacitySpyxGSi_tFZ",
      full: "static Swift.UnsafeMutablePointer.allocate(capacity: Swift.Int) -> "
        + "Swift.UnsafeMutablePointer<A>"
    )
    #expect(name([runtime, generic]) == nil)
  }

  @Test(arguments: [
    ("$sSDyq_SgxciM", "Dictionary.subscript.modify coroutine frame"),
    ("$sSDyxq_GSlsSly7ElementQz5IndexQzcirTW", "Collection.subscript.read coroutine frame"),
    ("$s3app4ListV5firstSiSgvr", "List.first.read coroutine frame"),
    // A function that is called `read`, a closure in an accessor, a getter.
    ("$s3app4ListV4readSiyF", nil), ("$s3app4ListV5firstSiSgvryyXEfU_", nil),
    ("$s3app4ListV5firstSiSgvg", nil),
  ])
  func accessorsThatAreCoroutinesHaveFrames(symbol: String, name: String?) {
    func frame(_ symbol: String) -> SymbolicatedFrame {
      SymbolicatedFrame(
        programCounter: Address(1), function: Demangler.name(of: symbol), imagePath: "/opt/app/app")
    }
    let (allocator, accessor, user) = (frame("malloc"), frame(symbol), frame("work"))
    func named(_ frames: [SymbolicatedFrame], _ caller: SymbolicatedFrame?) -> String? {
      SwiftAccessorFrames.name(of: frames, calledBy: caller)?.short
    }
    #expect(named([allocator, accessor], user) == name)
    #expect(named([allocator], accessor) == name)
    #expect(named([allocator, frame("swift_slowAlloc"), accessor], user) == nil)
    #expect(named([allocator], user) == nil)
    #expect(named([], nil) == nil)
  }

  @Test func whatTheEndOfAnObjectAllocatesIsNone() {
    #expect(
      name([
        "app_allocateInDeinit", "_swift_release_dealloc",
        "\(counts)::doDecrementSlow<(swift::PerformDeinit)1>",
      ]) == nil)
    #expect(name(["swift_allocObject"]) == nil)
  }

  @Test(arguments: [
    [
      "operator new", "swift::Lazy<(anonymous namespace)::GenericMetadataCache>::defaultInit",
      "_swift_getGenericMetadata",
    ],
    ["malloc", "swift::ConcurrentReadableHashMap<swift::HashMapElementWrapper<int>>::resize"],
    ["swift_slowAlloc", "swift_getWitnessTable"],
    ["malloc", "swift_getTypeName", "Swift._typeName"],
    ["operator new", "__swift::__runtime::llvm::DenseMap<int>::grow", "swift_getTypeName"],
    [
      "swift_getGenericMetadata", "_swift_release_dealloc",
      "swift::RefCounts<int>::doDecrementSlow",
    ],
  ])
  func whatIsKeptOfTypesIsMetadata(functions: [String]) {
    #expect(name(functions) == "Swift metadata")
  }

  @Test(arguments: [
    (["malloc", "swift::Anything::grow", "app"], true),
    (["operator new", "std::vector<int>::push_back", "app"], true),
    (["malloc", "app"], false), (["swift_slowAlloc", "swift_allocObject", "app"], false),
    (["malloc", "swift::RefCounts<int>::allocateSideTable"], false),
    (["malloc", "swift::StackAllocator<8, &swift::TaskAllocatorSlabMetadata>::alloc"], false),
    (["swift_slowAlloc"], true), ([], true),
  ])
  func whatElseTheRuntimeMayAllocate(functions: [String], isUnnamed: Bool) {
    let frames = functions.map { function in
      SymbolicatedFrame(
        programCounter: Address(1),
        function: FunctionName(
          raw: function, short: function, full: function, base: function, language: .cxx),
        imagePath: function == "app" ? "/opt/app/app" : "/usr/lib/libswiftCore.so")
    }
    #expect(SwiftRuntimeBlocks.isUnnamed(frames) == isUnnamed)
  }

  @Test func framesOfTasksLieInSlabs() {
    let allocator = "swift::StackAllocator<984ul, &swift::TaskAllocatorSlabMetadata, int>::alloc"
    #expect(name(["malloc", allocator, "swift_task_alloc"]) == "Swift Task Slab")
    #expect(name(["swift_allocObject", allocator]) == nil)
    #expect(name(["malloc", "swift::StackAllocator<984ul>::alloc"]) == nil)
  }

  @Test(arguments: [
    ["swift_slowAlloc", "swift_allocObject", "swift_getWitnessTable"], ["malloc"], [],
  ])
  func whatOthersAllocateForThemIsNone(functions: [String]) {
    #expect(name(functions) == nil)
  }
}
