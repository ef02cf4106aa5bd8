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
    // The first weak reference to an object, or more counts than its header has room for. Nothing
    // else do these functions allocate; but the last release of an object of the standard library
    // takes it down, which may need types for the first time.
    let counting = frames.lazy.compactMap { $0.function?.base }.first {
      $0.hasPrefix("swift::RefCounts<")
    }
    guard let counting, !counting.contains("ecrement") else { return nil }
    return sideTable
  }

  /// What tells weak references whether an object lives.
  static let sideTable = TypeName(
    short: "Swift side table", full: "Swift side table", language: .swift)
}
