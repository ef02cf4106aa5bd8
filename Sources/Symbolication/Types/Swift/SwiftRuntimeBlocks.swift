import TraceReader

/// What the Swift runtime allocates for a program besides objects.
///
/// Nothing in such a block tells what it is; the function of the runtime does.
enum SwiftRuntimeBlocks {
  /// The name of what a stack allocated.
  ///
  /// - Parameter frames: The frames between the allocator and the program's code, leaf first,
  ///   inlined ones included.
  /// - Returns: nil when it was none of these.
  static func name(of frames: some Sequence<SymbolicatedFrame>) -> TypeName? {
    if let function = caller(of: frames) {
      if isOfMetadata(function) { return metadata }
      if isOfSlabs(function) { return taskSlab }
      // Of the results that nobody has asked for yet: a `std::deque`.
      if function.base.hasPrefix("swift_taskGroup_initialize") { return taskGroupQueue }
    }
    // The first weak reference to an object, or more counts than its header has room for. Nothing
    // else do these functions allocate; but the last release of an object of the standard library
    // takes it down, which may need types for the first time.
    let counting = frames.lazy.compactMap { $0.function?.base }.first {
      $0.hasPrefix(counts)
    }
    guard let counting, !counting.contains("ecrement") else { return nil }
    return sideTable
  }

  /// Whether the runtime may have allocated something for itself that is not named.
  ///
  /// - Parameter frames: All frames, leaf first, inlined ones included.
  /// - Returns: True of its code of C++, and what that uses, and of code that is not known.
  static func isUnnamed(_ frames: some Sequence<SymbolicatedFrame>) -> Bool {
    let caller = frames.first { $0.function.map { !isOfAllocator($0) } ?? true }
    guard let caller else { return true }
    guard caller.role == .runtime, let function = caller.function else {
      return caller.role == .runtime
    }
    return !isOfSlabs(function) && !function.base.hasPrefix(counts)
      && functionsOfCxx.contains { function.base.hasPrefix($0) }
  }

  private static func isOfAllocator(_ function: FunctionName) -> Bool {
    RuntimeNames.isAllocator(function) || function.base == "swift_slowAlloc"
  }

  /// The function that called the allocator.
  private static func caller(of frames: some Sequence<SymbolicatedFrame>) -> FunctionName? {
    frames.lazy.compactMap(\.function).first { !isOfAllocator($0) }
  }

  /// Whether a function is one that keeps what it has found out of types: the metadata of generic ones, tuples,
  /// functions and existentials, and who conforms to which protocol.
  ///
  /// It does so at the first use, wherever in the program that is, and for as long as the process runs.
  private static func isOfMetadata(_ function: FunctionName) -> Bool {
    functionsOfMetadata.contains { function.base.hasPrefix($0) }
  }

  /// Whether a function is one that makes room for the frames of a task's functions.
  private static func isOfSlabs(_ function: FunctionName) -> Bool {
    function.base.hasPrefix("swift::StackAllocator<")
      && function.base.contains("TaskAllocatorSlabMetadata")
  }

  private static let functionsOfMetadata = [
    "swift::ConcurrentReadableHashMap<", "swift::ConcurrentReadableArray<",
    "swift::StableAddressConcurrentReadableHashMap<", "swift::LockingConcurrentMap<",
    "swift::Lazy<", "swift::MetadataAllocator::", "ConformanceState::",
    "swift::MetadataCacheEntryBase<", "swift::VariadicMetadataCacheEntryBase<",
    "swift::hashable_support::", "TypeMetadataPrivateState::",
    // The runtime's own copy of LLVM's containers.
    "__swift::__runtime::llvm::",
    "_swift_getGenericMetadata", "swift_getGenericMetadata", "swift_getWitnessTable",
    "_getForeignWitnessTable", "swift_getTupleTypeMetadata", "swift_getExistentialTypeMetadata",
    "swift_getExistentialMetatypeMetadata", "swift_getExtendedExistentialType",
    "getExistentialValueWitnesses", "getExistentialMetatypeValueWitnesses",
    "swift_getFunctionTypeMetadata", "swift_getExtendedFunctionTypeMetadata",
    "swift_getMetatypeMetadata", "swift_getFixedArrayTypeMetadata",
    "swift_getForeignTypeMetadata", "swift_getSingletonMetadata",
    "swift_getAssociatedTypeWitness", "swift_allocateMetadataPack",
    "swift_allocateWitnessTablePack", "swift_allocateGenericClassMetadata",
    "swift_allocateGenericValueMetadata", "swift_conformsToProtocol",
    "_registerProtocolConformances", "_registerProtocols", "_registerTypeMetadataRecords",
    "swift_getTypeName", "swift_getMangledTypeName", "swift_getTypeByMangledName",
    "_findContextDescriptor", "swift_getFunctionFullNameFromMangledName",
    "swift_findAccessibleFunction",
  ]

  private static let counts = "swift::RefCounts<"

  private static let functionsOfCxx = [
    "swift::", "std::", "(anonymous namespace)::",
  ]

  /// What the runtime knows of types.
  static let metadata = TypeName(
    short: "Swift metadata", full: "Swift metadata", language: .swift)

  /// Where a task of Swift has the frames of its functions.
  static let taskSlab = TypeName(
    short: "Swift Task Slab", full: "Swift Task Slab", language: .swift)

  /// Where a group of tasks keeps those that have ended, until their results are asked for.
  private static let taskGroupQueue = TypeName(
    short: "Swift task group queue", full: "Swift task group queue", language: .swift)

  /// What tells weak references whether an object lives.
  static let sideTable = TypeName(
    short: "Swift side table", full: "Swift side table", language: .swift)

  fileprivate static let all = [metadata, taskSlab, taskGroupQueue, sideTable]
}

extension TypeName {
  /// The names of what the Swift runtime has for itself in blocks, which are no objects.
  public static let swiftRuntimeBlocks = Set(SwiftRuntimeBlocks.all.map(\.short))
}
