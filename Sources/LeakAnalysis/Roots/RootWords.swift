import TraceReader

/// The words of roots.
enum RootWords {
  /// Visits the words of a root that may be pointers, with what glibc and the Swift runtime encode
  /// put right.
  static func forEach(
    of root: Root, in heap: HeapImage, _ body: (_ address: UInt64, _ value: UInt64) -> Void
  ) {
    if case .registers = root.kind {
      guard heap.info.threads.indices.contains(root.thread) else { return }
      for (number, value) in heap.info.threads[root.thread].registers.enumerated() {
        body(UInt64(number) * 8, value)
      }
      return
    }
    let vectors = Set(heap.info.threads.filter { $0.tlsBase != 0 }.map { $0.tlsBase &+ 8 })
    let isTagging = isSwiftRuntime(root, heap.memory)
    heap.memory.forEachWord(in: root.range) { address, value in
      let value = vectors.contains(address) ? value &- vectorHeader : value
      body(address, isTagging ? value & ~7 : value)
    }
  }

  /// The runtime's tables of types keep their capacity in the lowest bits of the pointer to their
  /// indices: `ConcurrentReadableHashMap` in `include/swift/Runtime/Concurrent.h`.
  private static func isSwiftRuntime(_ root: Root, _ memory: SnapshotMemory) -> Bool {
    guard case .global(let image?) = root.kind else { return false }
    // Variables without initial values lie in a mapping without a path.
    return memory.regions.contains {
      $0.image == image && $0.path?.contains("/libswiftCore.so") == true
    }
  }

  /// The second word of a thread's control block points behind the first element of its vector of
  /// dynamic thread-local variables, 16 bytes into the block: as good as a pointer to the beginning.
  private static let vectorHeader: UInt64 = 16
}
