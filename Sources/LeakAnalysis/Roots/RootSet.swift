import TraceReader

/// All memory outside of blocks from which blocks can be reached.
///
/// * writable segments of images, with what the loader relocated in them
/// * thread-local variables, and all of the mapping they are in
/// * mappings that are not the allocator's (``AllocatorMemory``), shared memory too
/// * stacks of threads from their stack pointers on; of threads that did not stand still, all of it
/// * registers
/// * words that the kernel keeps (``KernelWord``)
/// * stacks for handlers of signals (``SignalStacks``)
/// * what the program has said about blocks that are none to report (``IgnoredBlocks``)
/// * objects that their language never frees (``ImmortalObjects``)
///
/// Words in blocks that allocators of the program have announced are these blocks' and no roots.
///
/// Not: memory of the recorder, stacks of threads that have ended (``DeadStacks``).
struct RootSet {
  /// In the order in which they are followed.
  private(set) var roots: [Root] = []

  init(_ heap: HeapImage) {
    let allocator = AllocatorMemory(heap)
    for region in heap.info.regions where region.isKept {
      add(region, heap, allocator)
    }
    if heap.hasUnknownBlocks {
      add(allocator.heaps, as: .unknownHeap)
    }
    for (position, thread) in heap.info.threads.enumerated() where !thread.registers.isEmpty {
      var root = Root(
        .registers(thread: thread.thread), 0..<UInt64(thread.registers.count) * 8)
      root.thread = position
      roots.append(root)
    }
    if !heap.info.kernelWords.isEmpty {
      roots.append(Root(.kernel, 0..<UInt64(heap.info.kernelWords.count) * 8))
    }
    for stack in SignalStacks(heap.info, heap.lookup).stacks {
      roots.append(Root(.signalStack(thread: stack.thread), stack.range))
    }
    add(IgnoredBlocks(heap).blocks, of: heap, as: .ignored)
    add(ImmortalObjects(heap).blocks, of: heap, as: .immortal)
    roots.sort {
      ($0.category.rawValue, $0.range.lowerBound) < ($1.category.rawValue, $1.range.lowerBound)
    }
  }

  private mutating func add(
    _ region: SnapshotRegion, _ heap: HeapImage, _ allocator: AllocatorMemory
  ) {
    let range = region.start..<region.end
    switch region.kind {
    case .recorder, .kernel, .heap: break
    case .image: add(allocator.gaps(in: range), as: .global(image: region.image))
    case .file: roots.append(Root(.mapping(path: region.path), range))
    case .stack: addStack(region, heap, allocator)
    case .threadLocal:
      add(allocator.gaps(in: range), as: .threadLocal(thread: region.thread ?? 0))
    case .anonymous:
      let dead = DeadStacks.range(in: region, of: heap.info, heap.memory)
      add(allocator.gaps(in: dead.upperBound..<range.upperBound), as: .mapping(path: region.path))
    }
  }

  /// Thread-local variables lie behind the stack in the same mapping, up to the control block.
  ///
  /// What is below the stack pointer is dead where the mapping begins with the stack: at a guard, or
  /// in the one that the kernel made. Stacks of fibers may lie side by side in one mapping.
  private mutating func addStack(
    _ region: SnapshotRegion, _ heap: HeapImage, _ allocator: AllocatorMemory
  ) {
    let threads = heap.info.threads.filter { region.contains($0.sp) }
    let isWhole = region.path == nil && !DeadStacks.hasGuard(region, heap.memory.regions)
    let start = isWhole ? region.start : threads.compactMap(\.stackStart).min() ?? region.start
    let alive = max(start, region.start)..<region.end
    let thread = region.thread ?? threads.first?.thread ?? 0
    add(allocator.gaps(in: alive), as: .stack(thread: thread))
  }

  /// Adds blocks that are held by nothing but what they are.
  private mutating func add(_ blocks: [Int], of heap: HeapImage, as kind: Root.Kind) {
    for block in blocks {
      let address = heap.blocks.address(of: block)
      var root = Root(kind, address..<address &+ 1)
      root.block = block
      roots.append(root)
    }
  }

  private mutating func add(_ ranges: [Range<UInt64>], as kind: Root.Kind) {
    for range in ranges { roots.append(Root(kind, range)) }
  }
}
