import Reports
import TraceReader

/// What a finding is about: a rule with an ID that never changes its meaning.
public enum FindingKind: String, Sendable, Hashable, CaseIterable, Codable {
  /// Blocks that nothing can reach, as trees.
  case leak
  /// Blocks that nothing reaches but each other, as trees.
  case cycle
  /// Blocks that were not freed at the end, whether they can be reached or not.
  case unfreed
  case doubleFree = "double-free"
  case mismatchedFree = "mismatched-free"
  case invalidFree = "invalid-free"
  case reallocOfFreed = "realloc-of-freed"
  case wrongSize = "wrong-size"
  case wrongAlignment = "wrong-alignment"
  case overRelease = "over-release"
  case writeAfterFree = "write-after-free"
  case useAfterFree = "use-after-free"
  case heapOverflow = "heap-overflow"
  case heapUnderflow = "heap-underflow"
  case outOfBounds = "out-of-bounds"

  /// The ID of the rule in SARIF and code quality reports.
  public var ruleID: String {
    switch self {
    case .leak: "MT001"
    case .cycle: "MT002"
    case .unfreed: "MT003"
    case .doubleFree: "MT004"
    case .mismatchedFree: "MT005"
    case .invalidFree: "MT006"
    case .reallocOfFreed: "MT010"
    case .wrongSize: "MT011"
    case .wrongAlignment: "MT012"
    case .overRelease: "MT013"
    case .writeAfterFree: "MT014"
    case .useAfterFree: "MT015"
    case .heapOverflow: "MT008"
    case .heapUnderflow: "MT018"
    case .outOfBounds: "MT016"
    }
  }

  /// A few words: `Memory leak`.
  public var title: String {
    switch self {
    case .leak: "Memory leak"
    case .cycle: "Leaked cycle"
    case .unfreed: "Unfreed at end"
    case .doubleFree: "Double free"
    case .mismatchedFree: "Mismatched deallocation"
    case .invalidFree: "Invalid free"
    case .reallocOfFreed: "realloc of a freed block"
    case .wrongSize: "Deallocation with a wrong size"
    case .wrongAlignment: "Deallocation with a wrong alignment"
    case .overRelease: "Over-release"
    case .writeAfterFree: "Write to a freed block"
    case .useAfterFree: "Use of a freed block"
    case .heapOverflow: "Write past the end of a block"
    case .heapUnderflow: "Write in front of a block"
    case .outOfBounds: "Access outside of a block"
    }
  }

  /// What is wrong, in one sentence.
  public var explanation: String {
    switch self {
    case .leak: "No chain of pointers leads to these blocks any more: nothing can free them."
    case .cycle:
      "These blocks point to each other, and nothing else leads to them: counts of references "
        + "never reach zero, and where there are none, nothing can free them."
    case .unfreed: "These blocks were allocated and not freed before the process ended."
    case .doubleFree: "A block was freed again after it had been freed."
    case .mismatchedFree:
      "A block was freed by a function of another family than the one that allocated it."
    case .invalidFree: "An address was freed that no allocation returned."
    case .reallocOfFreed: "A block was passed to realloc after it had been freed."
    case .wrongSize: "A sized deallocation was told another size than the block has."
    case .wrongAlignment: "An aligned deallocation was told another alignment than the block has."
    case .overRelease:
      "A Swift object was released without a reference, or retained or released after it was freed."
    case .writeAfterFree: "A block was written to after it had been freed."
    case .useAfterFree:
      "What a block held was used after it had been freed, and a signal came of it."
    case .heapOverflow: "Bytes behind the end of a block were written to."
    case .heapUnderflow: "Bytes in front of a block were written to."
    case .outOfBounds: "Bytes beside a block were to be read or written, and a signal came of it."
    }
  }

  /// What to do about it.
  public var help: String {
    switch self {
    case .leak:
      "Free the blocks where their last owner goes away. `memtrace leaks TRACE` shows the trees, "
        + "`memtrace history TRACE ADDRESS` the life of a block."
    case .cycle:
      "Where references are counted, break the cycle: make one of them weak or unowned, or clear "
        + "it when its owner goes away. Where they are not, as in C, free all of the blocks where the "
        + "last pointer to them goes away. `memtrace leaks TRACE --cycles` names the fields."
    case .unfreed:
      "Free the blocks before the end, or take the rule away where the system may do it."
    case .doubleFree, .reallocOfFreed:
      "Let one owner free the block, and clear pointers that stay behind. `memtrace errors TRACE` "
        + "shows the allocation and both frees."
    case .mismatchedFree:
      "Pair malloc with free, new with delete, new[] with delete[]."
    case .invalidFree: "Free only what an allocation returned, and that exactly."
    case .wrongSize, .wrongAlignment:
      "Delete through a type with a virtual destructor, or through the type that was allocated."
    case .writeAfterFree, .useAfterFree:
      "Free the block after its last use, and clear pointers that stay behind. `memtrace errors "
        + "TRACE` shows the allocation and the free."
    case .heapOverflow:
      "Ask for as many bytes as are written, or write no more. `memtrace errors TRACE` shows how many "
        + "too many they were, and who allocated the block."
    case .heapUnderflow:
      "Write nothing in front of the block: an index is below 0, or a pointer goes back too far. "
        + "`memtrace errors TRACE` shows how far, and who allocated the block."
    case .outOfBounds:
      "Ask for as many bytes as are used, or stop at the end of the block. `memtrace errors TRACE` "
        + "shows who went too far, and who allocated the block."
    case .overRelease:
      "Release what was retained, once: `memtrace errors TRACE` names the function, and `memtrace "
        + "history TRACE ADDRESS` shows the count."
    }
  }

  /// Whether the allocator was misused.
  public var isMemoryError: Bool {
    switch self {
    case .leak, .cycle, .unfreed: false
    default: true
    }
  }

  /// The kind of a misuse.
  init(_ category: MemoryError.Category) {
    switch category {
    case .doubleFree: self = .doubleFree
    case .reallocOfFreed: self = .reallocOfFreed
    case .freeOfInterior, .freeOfUnknown: self = .invalidFree
    case .mismatched: self = .mismatchedFree
    case .wrongSize: self = .wrongSize
    case .wrongAlignment: self = .wrongAlignment
    case .overRelease: self = .overRelease
    case .writeAfterFree: self = .writeAfterFree
    case .useAfterFree: self = .useAfterFree
    case .heapOverflow: self = .heapOverflow
    case .heapUnderflow: self = .heapUnderflow
    case .outOfBounds: self = .outOfBounds
    }
  }
}
