import LeakAnalysis
import TraceReader

/// Who holds a block, up to the roots.
public struct TraceTreeReport: Report {
  /// The name of the JSON document.
  public static let schema = "memtrace.trace-tree"

  /// A holder of the block, or of a holder.
  public struct Holder: Sendable, Hashable, Encodable {
    /// How far it is from the block: 1 for what points to it.
    public var depth: Int
    /// The root in words; nil for a block.
    public var root: String?
    /// The type of the block, else function and caller; nil where nothing is known.
    public var name: String?
    /// The address of the block, or of the word in the root.
    public var address: UInt64
    /// Requested bytes of the block; nil for a root.
    public var size: UInt64?
    /// The field with the pointer, where its name is known.
    public var field: String?
    /// Where in the block the pointer is; nil for a root.
    public var offset: UInt64?
    /// How it points: `start`, `interior` or `tagged`.
    public var edge: String

    enum CodingKeys: String, CodingKey {
      case depth, root, name, address, size, field, offset, edge
    }

    /// Writes the holder; the address as hexadecimal text.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(depth, forKey: .depth)
      try container.encodeIfPresent(root, forKey: .root)
      try container.encodeIfPresent(name, forKey: .name)
      try container.encode(HexText.of(address), forKey: .address)
      try container.encodeIfPresent(size, forKey: .size)
      try container.encodeIfPresent(field, forKey: .field)
      try container.encodeIfPresent(offset, forKey: .offset)
      try container.encode(edge, forKey: .edge)
    }
  }

  /// Which trace.
  public var trace: TraceSummary
  /// What is missing in it.
  public var coverage: CoverageSummary
  /// Which snapshot.
  public var snapshot: SnapshotSummary
  /// The beginning of the block.
  public var address: UInt64
  /// The type of the block, else function and caller; nil where nothing is known.
  public var name: String?
  /// Its requested bytes.
  public var size: UInt64
  /// The references to a Swift object; nil for other blocks.
  public var counts: ObjectCounts?
  /// Where a task of Swift waits; nil for other blocks, and for a task that runs or is done.
  public var suspended: ReportFrame?
  /// `reached`, `possible` or `leaked`.
  public var state: String
  /// Who allocated it.
  public var allocation: EventSummary
  /// What holds it and its holders, by distance; each block once.
  public var holders: [Holder]
  /// Whether there are more holders than are listed.
  public var isCut: Bool
  /// The shortest way from the block to a root, which holds it; empty for a leak.
  public var shortestWay: [Holder]
  /// At most so many frames of the stack in text; nil for all.
  public var frameLimit: Int?

  /// Finds the holders of the block that an address lies in.
  ///
  /// - Parameters:
  ///   - analysis: The heap.
  ///   - address: Any address of the block.
  ///   - source: Names.
  ///   - limit: At most so many holders; nil for all.
  ///   - frameLimit: At most so many frames of the stack in text; nil for all.
  /// - Throws: ``ReportError`` when no live block is there.
  public init(
    _ analysis: LeakAnalysis, address: UInt64, source: ReportSource, limit: Int?,
    frameLimit: Int? = nil
  ) throws {
    let heap = analysis.heap
    guard let block = heap.blocks.block(containing: address) else {
      throw ReportError.notFound(
        "no block was live at \(HexText.of(address)) when the snapshot was taken; "
          + "'memtrace history TRACE \(HexText.of(address))' shows what was there before")
    }
    let types = SnapshotTypeNames(source)
    let labels = BlockLabels(heap: heap, types: types, names: source.names)
    trace = source.trace
    coverage = CoverageSummary(heap.coverage)
    snapshot = SnapshotSummary(heap, clock: source.clock)
    self.address = heap.blocks.address(of: block)
    name = labels.name(of: block)
    size = heap.blocks.size(of: block)
    counts = labels.counts(of: block)
    suspended = labels.suspension(of: block)
    state =
      switch analysis.reachability.state(of: block) {
      case .reached: "reached"
      case .possible: "possible"
      case .unreached: "leaked"
      }
    let site = heap.blocks.site(of: block)
    allocation = EventSummary(
      operation: site.operation, thread: site.thread, time: heap.blocks.time(of: block),
      stack: site.stack, source: source)
    self.frameLimit = frameLimit
    let text = HolderTexts(labels: labels, roots: RootNames(source: source, info: heap.info))
    let walk = HolderWalk(Referrers(analysis), texts: text, from: block, limit: limit ?? .max)
    (holders, isCut) = (walk.holders, walk.isCut)
    shortestWay = ShortestWay(to: block, in: analysis).holders.enumerated().map { index, holder in
      text.holder(holder, depth: index + 1)
    }
  }
}

/// Walks from a block to its holders, breadth first, and writes them down as a tree.
private struct HolderWalk {
  private(set) var isCut = false
  private(set) var holders: [TraceTreeReport.Holder] = []
  private let texts: HolderTexts

  init(_ referrers: Referrers, texts: HolderTexts, from block: Int, limit: Int) {
    self.texts = texts
    var children: [Int: [(Referrers.Referrer, Int?)]] = [:]
    var seen: Set<Int> = [block]
    var queue = [block]
    var (position, count) = (0, 0)
    while position < queue.count {
      let current = queue[position]
      position += 1
      for referrer in referrers.referrers(of: current) {
        var next: Int?
        if case .block(let holder) = referrer.holder {
          guard seen.insert(holder).inserted else { continue }
          next = holder
        }
        guard count < limit else {
          isCut = true
          continue
        }
        count += 1
        children[current, default: []].append((referrer, next))
        if let next { queue.append(next) }
      }
    }
    write(children, from: block)
  }

  /// Puts the holders in the order of printing.
  private mutating func write(_ children: [Int: [(Referrers.Referrer, Int?)]], from block: Int) {
    var stack = (children[block] ?? []).reversed().map { ($0, 1) }
    while let ((referrer, next), depth) = stack.popLast() {
      holders.append(texts.holder(referrer, depth: depth))
      guard let next else { continue }
      stack += (children[next] ?? []).reversed().map { ($0, depth + 1) }
    }
  }
}

/// Puts what holds a block into words.
private struct HolderTexts {
  let labels: BlockLabels
  let roots: RootNames

  func holder(_ referrer: Referrers.Referrer, depth: Int) -> TraceTreeReport.Holder {
    let edge =
      switch referrer.edgeClass {
      case .start: "start"
      case .interior: "interior"
      case .tagged: "tagged"
      }
    switch referrer.holder {
    case .root(let slot):
      return TraceTreeReport.Holder(
        depth: depth, root: roots.text(slot), address: slot.address, edge: edge)
    case .block(let block):
      return TraceTreeReport.Holder(
        depth: depth, name: labels.name(of: block), address: labels.heap.blocks.address(of: block),
        size: labels.heap.blocks.size(of: block),
        field: labels.types.field(at: referrer.offset, of: block, in: labels.heap),
        offset: referrer.offset, edge: edge)
    }
  }
}
