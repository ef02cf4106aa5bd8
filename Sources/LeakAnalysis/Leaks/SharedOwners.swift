import TraceReader

/// Objects of `std::shared_ptr` an owner of which is gone without giving them up.
///
/// ```
/// pointer   object   counts
/// counts    virtual functions   u32 owners   u32 weak references, one for all owners   the object, or its address
/// ```
/// In a cycle that keeps itself alive all that is counted is there to be found. Where more is counted, somebody was
/// lost who had a pointer from outside: what leads back to the object, by a `std::weak_ptr` or without counting, does
/// not keep it. Counts of libc++ are not in snapshots.
/// Source: `bits/shared_ptr_base.h` of libstdc++, `boost/smart_ptr/detail/sp_counted_base*.hpp`.
struct SharedOwners {
  private struct Found {
    /// How many pointers there are.
    var count: UInt64 = 0
    /// The node of the object.
    var object: Int
  }

  /// For each node of counts what was found.
  private var found: [Int: Found] = [:]
  /// The nodes of counts that owners lead to, also of libc++.
  private(set) var counted: Set<Int> = []
  /// The nodes of the objects that have lost an owner.
  private(set) var orphans: Set<Int> = []

  /// - Parameters:
  ///   - graph: The leaked blocks.
  ///   - cycles: The nodes of cycles that nothing outside points to.
  ///   - scanner: Finds the pointers.
  /// - Complexity: O(*words*) in the blocks of the cycles.
  init(_ graph: borrowing LeakGraph, in cycles: Bits, _ scanner: EdgeScanner) {
    for node in 0..<graph.count where cycles[node] {
      let block = Int(graph.blocks[node])
      scanner.forEachLeakEdge(of: block) { offset, target in
        guard offset >= 8, target.edgeClass == .start else { return }
        if scanner.countsForLibcxx(target.block, pointedToAt: offset, in: block),
          let counts = Self.node(of: target.block, graph.blocks, cycles)
        {
          counted.insert(counts)
        }
        guard
          let object = scanner.object(of: target.block, pointedToAt: offset, in: block),
          let counts = Self.node(of: target.block, graph.blocks, cycles)
        else { return }
        counted.insert(counts)
        let node = Self.node(of: object, graph.blocks, cycles) ?? counts
        found[counts, default: Found(object: node)].count += 1
      }
    }
    let blocks = scanner.heap.blocks
    for (node, found) in found {
      let address = blocks.address(of: Int(graph.blocks[node]))
      guard let counted = Self.references(countedAt: address, scanner.heap.memory) else { continue }
      if found.count < counted { orphans.insert(found.object) }
    }
  }

  private static func node(of block: Int, _ blocks: [UInt32], _ cycles: Bits) -> Int? {
    let wanted = UInt32(truncatingIfNeeded: block)
    let node = blocks.partitioningIndex { $0 >= wanted }
    return node < blocks.count && blocks[node] == wanted && cycles[node] ? node : nil
  }

  /// How many pointers the counts at an address count, strong and weak ones.
  ///
  /// - Returns: nil where there are no counts, or more of them than the recorder keeps.
  static func references(countedAt address: UInt64, _ memory: SnapshotMemory) -> UInt64? {
    let counts = memory.word(at: address &+ 8)
    let (owners, weak) = (counts & 0xffff_ffff, counts >> 32)
    guard 1..<(1 << 16) ~= owners, 1..<(1 << 16) ~= weak,
      InteriorPointers.isVirtualTable(memory.word(at: address), memory)
    else { return nil }
    return owners + weak - 1
  }
}

extension EdgeScanner {
  /// The block with the object of a `std::shared_ptr` or `std::weak_ptr`.
  ///
  /// - Parameters:
  ///   - counts: The block that is pointed to.
  ///   - offset: Where in the other block, 8 at least.
  ///   - block: The block with the pointer.
  /// - Returns: nil where they are no object and what counts its owners.
  fileprivate func object(of counts: Int, pointedToAt offset: UInt64, in block: Int) -> Int? {
    let (blocks, memory) = (heap.blocks, heap.memory)
    let start = blocks.address(of: counts)
    guard SharedOwners.references(countedAt: start, memory) != nil else { return nil }
    let pointer = memory.word(at: blocks.address(of: block) &+ offset &- 8)
    let object = lookup.block(containing: pointer)
    if object == counts { return pointer >= start &+ 16 ? counts : nil }
    guard object >= 0 else { return nil }
    // Behind the counts, and a deleter of one or two words.
    let isNamed = [16, 24, 32].contains { offset in
      blocks.size(of: counts) >= offset + 8
        && lookup.block(containing: memory.word(at: start &+ offset)) == object
    }
    return isNamed ? object : nil
  }

  /// Whether a block counts for a `std::shared_ptr` or `std::weak_ptr` of libc++.
  ///
  /// ```
  /// virtual functions   i64 owners - 1   i64 weak references   the object, or its address
  /// ```
  /// Source: `__memory/shared_count.h` and `__memory/shared_ptr.h` of libc++.
  fileprivate func countsForLibcxx(
    _ counts: Int, pointedToAt offset: UInt64, in block: Int
  ) -> Bool {
    let (blocks, memory) = (heap.blocks, heap.memory)
    let start = blocks.address(of: counts)
    guard InteriorPointers.isVirtualTable(memory.word(at: start), memory),
      [8, 16].allSatisfy({ memory.word(at: start &+ $0) < 1 << 16 })
    else { return false }
    let pointer = memory.word(at: blocks.address(of: block) &+ offset &- 8)
    return pointer == start &+ 24 || (pointer != 0 && memory.word(at: start &+ 24) == pointer)
  }
}
