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
    let function = frames.lazy.compactMap(\.function).first {
      !RuntimeNames.isAllocator($0) && $0.base != "swift_slowAlloc"
    }
    if let function {
      if isOfMetadata(function) { return metadata }
      if isOfSlabs(function) { return taskSlab }
    }
    // The first weak reference to an object, or more counts than its header has room for. Nothing
    // else do these functions allocate; but the last release of an object of the standard library
    // takes it down, which may need types for the first time.
    let counting = frames.lazy.compactMap { $0.function?.base }.first {
      $0.hasPrefix("swift::RefCounts<")
    }
    guard let counting, !counting.contains("ecrement") else { return nil }
    return sideTable
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
    "_swift_getGenericMetadata", "swift_getGenericMetadata", "swift_getWitnessTable",
    "swift_getTupleTypeMetadata", "swift_getExistentialTypeMetadata",
    "swift_getFunctionTypeMetadata", "swift_getExtendedFunctionTypeMetadata",
    "swift_allocateGenericClassMetadata", "swift_allocateGenericValueMetadata",
    "swift_conformsToProtocol", "_registerProtocolConformances",
  ]

  /// What the runtime knows of types.
  static let metadata = TypeName(
    short: "Swift metadata", full: "Swift metadata", language: .swift)

  /// Where a task of Swift has the frames of its functions.
  static let taskSlab = TypeName(
    short: "Swift Task Slab", full: "Swift Task Slab", language: .swift)

  /// What tells weak references whether an object lives.
  static let sideTable = TypeName(
    short: "Swift side table", full: "Swift side table", language: .swift)
}
