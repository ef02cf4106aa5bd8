/// Live blocks by ascending address, each address once: 32 bytes each.
///
/// Those that were announced come behind all others, and may lie in them. A block is known by its position.
public struct LiveBlocksByAddress: @unchecked Sendable {
  /// How many there are.
  public let count: Int
  /// How many of them were not announced.
  public let recordedCount: Int
  @usableFromInline let entries: UnsafePointer<LiveEntry>
  private let owner: LiveEntries
  /// For each block that announced ones lie in, by its key, how many of its bytes these have.
  private let handedOut: [UInt64: UInt64]

  /// - Parameters:
  ///   - sorted: Entries by ascending address; `serial` is the position in the order of allocation, `site` one in
  ///     the sites of the replay.
  ///   - handedOut: For each block that announced ones lie in, by its key, how many bytes these have.
  fileprivate init(_ sorted: LiveEntries, handedOut: [UInt64: UInt64]) {
    self.handedOut = handedOut
    owner = sorted
    count = sorted.entries.count
    entries = UnsafePointer(sorted.memory)
    recordedCount = sorted.entries.partitioningIndex { BlockKey.isAnnounced($0.address) }
  }

  /// Where a block begins.
  @inlinable
  public func address(of block: Int) -> UInt64 { self[block].address & ~(1 << 63) }

  /// The requested bytes of a block; fewer than 2^56.
  @inlinable
  public func size(of block: Int) -> UInt64 { self[block].size }

  /// The bytes that count for a block: those that no announced block has which lies in it.
  public func ownBytes(of block: Int) -> UInt64 {
    let entry = self[block]
    if handedOut.isEmpty { return entry.size }
    return entry.size &- min(handedOut[entry.address] ?? 0, entry.size)
  }

  /// When a block was allocated.
  @inlinable
  public func time(of block: Int) -> EventTime { EventTime(self[block].time) }

  /// Where a block was allocated, as a position in the sites of the replay.
  @inlinable
  public func siteIndex(of block: Int) -> Int { Int(self[block].site) }

  /// The position of a block in the order of allocation.
  @inlinable
  public func order(of block: Int) -> UInt32 { self[block].serial }

  @inlinable
  subscript(block: Int) -> LiveEntry {
    precondition(block >= 0 && block < count, "no such block")
    return entries[block]
  }
}

extension LiveBlocks {
  /// The blocks by ascending address, in place if nothing else has them.
  ///
  /// - Parameters:
  ///   - siteCount: Blocks of other sites are left out.
  ///   - limit: At most so many are kept; fewer than 2^32.
  /// - Returns: Of several blocks with one address the last one.
  public consuming func byAddress(siteCount: Int, limit: Int) -> LiveBlocksByAddress {
    let sites = origins.map { UInt32(exactly: $0.site).flatMap { $0 < siteCount ? $0 : nil } }
    let areAnnounced = origins.map(\.operation.isOfAnnounced)
    let handedOut = handedOut
    var owned = storage
    // Without this there would be a second reference, and a copy of everything.
    self = LiveBlocks()
    if !isKnownUniquelyReferenced(&owned) { owned = owned.copy() }
    owned.sortByAddress(limit: limit, sites: sites, areAnnounced)
    return LiveBlocksByAddress(owned, handedOut: handedOut)
  }
}

extension LiveEntries {
  fileprivate func copy() -> LiveEntries {
    var builder = Builder(capacity: entries.count)
    for entry in entries { builder.append(entry) }
    return builder.finished()
  }

  /// - Parameters:
  ///   - limit: At most so many of the first entries stay.
  ///   - sites: What `site` is to become; entries without one go.
  ///   - areAnnounced: For each site whether its blocks have keys of announced ones; others go, which no process
  ///     can have.
  fileprivate func sortByAddress(limit: Int, sites: [UInt32?], _ areAnnounced: [Bool]) {
    var kept = 0
    for position in 0..<min(entries.count, limit) {
      var entry = entries[position]
      guard let site = sites[Int(entry.site)],
        BlockKey.isAnnounced(entry.address) == areAnnounced[Int(entry.site)]
      else { continue }
      entry.site = site
      entry.serial = UInt32(truncatingIfNeeded: position)
      entries[kept] = entry
      kept += 1
    }
    shrink(to: kept)
    var sorted = entries
    sorted.sort { $0.address == $1.address ? $0.serial > $1.serial : $0.address < $1.address }
    kept = 0
    for position in entries.indices
    where kept == 0 || entries[position].address != entries[kept - 1].address {
      entries[kept] = entries[position]
      kept += 1
    }
    shrink(to: kept)
  }
}
