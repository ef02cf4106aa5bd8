/// Containers of libraries of C++ other than the standard one, whose templates are compiled into the program.
///
/// As with `std::vector`, who uses one is meant, not what makes room in it: it would be the same for half of the
/// program's blocks. Sources: llvm/include/llvm/ADT and Support, absl/container, boost/container, the headers of
/// Qt's containers, folly/container, EASTL.
enum ContainerLibraries {
  /// Whether a function is one of theirs.
  ///
  /// - Parameter base: The name without parameters and return type.
  /// - Returns: Only for what holds or allocates values for its users.
  static func own(_ base: String) -> Bool {
    if base.hasPrefix("absl::") { return isOfAbseil(base.dropFirst(6)) }
    return prefixes.contains { base.hasPrefix($0) }
  }

  /// Behind the namespace of a release there may be: `absl::lts_20240722::container_internal::…`.
  private static func isOfAbseil(_ name: Substring) -> Bool {
    if abseil.contains(where: name.hasPrefix) { return true }
    guard let colon = name.firstRange(of: "::") else { return false }
    return abseil.contains(where: name[colon.upperBound...].hasPrefix)
  }

  private static let abseil = [
    "container_internal::", "inlined_vector_internal::", "flat_hash_map<", "flat_hash_set<",
    "node_hash_map<", "node_hash_set<", "btree_map<", "btree_set<", "InlinedVector<", "FixedArray<",
  ]

  private static let prefixes = [
    "llvm::SmallVector<", "llvm::SmallVectorBase<", "llvm::SmallVectorImpl<",
    "llvm::SmallVectorTemplateBase<", "llvm::SmallVectorTemplateCommon<", "llvm::SmallString<",
    "llvm::SmallPtrSetImplBase::", "llvm::DenseMap<", "llvm::DenseMapBase<", "llvm::SmallDenseMap<",
    "llvm::detail::DenseSetImpl<", "llvm::StringMapImpl::", "llvm::StringMap<",
    "llvm::FoldingSetBase::", "llvm::BumpPtrAllocatorImpl<", "llvm::SpecificBumpPtrAllocator<",
    "llvm::AllocatorBase<", "llvm::MallocAllocator::", "llvm::allocate_buffer",
    "llvm::safe_malloc", "llvm::safe_calloc", "llvm::safe_realloc",
    "boost::container::", "boost::unordered::", "boost::multi_index::", "boost::circular_buffer<",
    "boost::make_shared<", "boost::allocate_shared<", "boost::detail::shared_count",
    "QArrayData::", "QTypedArrayData<", "QArrayDataPointer<", "QList<", "QVector<", "QHash<",
    "QMap<", "QMapNode<", "QHashPrivate::", "QtPrivate::",
    "folly::f14::", "folly::fbvector<", "folly::small_vector<", "eastl::",
  ]
}
