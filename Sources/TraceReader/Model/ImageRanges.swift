/// Which images cover an address, whenever they were loaded.
///
/// A segment tree over the addresses at which images begin and end: an image is noted in the few nodes
/// that cover it together, and whoever looks for an address climbs from its leaf to the root. So plugins
/// that are loaded a hundred thousand times at one address, or with ends of their own, cost little more
/// than libraries that stay.
struct ImageRanges: Sendable {
  /// An image in a node of the tree.
  struct Entry: Sendable {
    /// Which one; a later image has a greater number.
    var rank: Int32
    /// Where the images of the node are that were loaded before this one and remained for longer: the
    /// last of these; -1 when there is none.
    var outlivedBy: Int32
    /// Stack nodes from this ID on may lie in the image.
    var firstStack: StackID
    /// Stack nodes from this ID on do not.
    var endStack: StackID
  }

  /// Where images begin and end, in ascending order.
  private let bounds: [Address]
  /// Where the entries of each node begin; node *n* has those before the beginning of node *n* + 1.
  private var firsts: [Int32]
  /// The images of each node, the one loaded first coming first.
  private var entries: [Entry] = []

  /// No process loads as many: 50 entries for each can be counted.
  private static let most = 1 << 24

  /// Notes images.
  ///
  /// - Parameter images: In the order in which they were loaded: ranks are positions in it.
  init(_ images: [Image]) {
    let images = images.prefix(Self.most)
    bounds = Self.bounds(of: images)
    firsts = [Int32](repeating: 0, count: bounds.count * 2 + 1)
    // Not in place: each call holds `self`, and so would have the array copied.
    var counts = firsts
    for image in images { forEachNode(covering: image) { counts[$0 + 1] += 1 } }
    for node in counts.indices.dropFirst() { counts[node] += counts[node - 1] }
    firsts = counts
    entries = entries(of: images)
  }

  private static func bounds(of images: ArraySlice<Image>) -> [Address] {
    var all: [Address] = []
    all.reserveCapacity(images.count * 2)
    for image in images where image.start < image.end { all += [image.start, image.end] }
    all.sort()
    var bounds: [Address] = []
    for address in all where address != bounds.last { bounds.append(address) }
    return bounds
  }

  private func entries(of images: ArraySlice<Image>) -> [Entry] {
    let blank = Entry(rank: 0, outlivedBy: -1, firstStack: .none, endStack: .none)
    var entries = [Entry](repeating: blank, count: Int(firsts.last ?? 0))
    var ends = firsts
    for (rank, image) in images.enumerated() {
      var entry = Entry(
        rank: Int32(rank), outlivedBy: -1, firstStack: image.firstStack,
        endStack: image.unloadedFromStack ?? StackID(.max))
      forEachNode(covering: image) { node in
        entry.outlivedBy = ends[node] > firsts[node] ? ends[node] - 1 : -1
        while entry.outlivedBy >= 0,
          entries[Int(entry.outlivedBy)].endStack <= entry.endStack
        {
          entry.outlivedBy = entries[Int(entry.outlivedBy)].outlivedBy
        }
        entries[Int(ends[node])] = entry
        ends[node] += 1
      }
    }
    return entries
  }

  /// Leaves are numbered from `bounds.count` on, one for the addresses from each bound to the next; the
  /// parent of node *n* is *n* / 2, and node 1 is the root.
  private func forEachNode(covering image: Image, _ body: (Int) -> Void) {
    guard image.start < image.end else { return }
    var low = bounds.partitioningIndex { $0 >= image.start } + bounds.count
    var high = bounds.partitioningIndex { $0 >= image.end } + bounds.count
    while low < high {
      if low & 1 == 1 {
        body(low)
        low += 1
      }
      if high & 1 == 1 {
        high -= 1
        body(high)
      }
      (low, high) = (low / 2, high / 2)
    }
  }

  /// Calls with the images of each node that covers an address.
  private func forEachNode(covering address: Address, _ body: (Range<Int>) -> Void) {
    let position = bounds.partitioningIndex { $0 > address }
    guard position > 0 else { return }
    var node = position - 1 + bounds.count
    while node > 0 {
      let range = Int(firsts[node])..<Int(firsts[node + 1])
      if !range.isEmpty { body(range) }
      node /= 2
    }
  }

  /// The rank of the last image that covers an address and may have a stack node in it.
  func last(covering address: Address, seenBy node: StackID) -> Int? {
    var found = -1
    forEachNode(covering: address) { range in
      var position = entries[range].partitioningIndex { $0.firstStack > node } - 1
      while position >= range.lowerBound {
        let entry = entries[position]
        if node < entry.endStack {
          found = max(found, Int(entry.rank))
          break
        }
        position = Int(entry.outlivedBy)
      }
    }
    return found < 0 ? nil : found
  }

  /// The greatest rank of the images that cover an address and fulfil a condition.
  func last(covering address: Address, where condition: (Int) -> Bool) -> Int? {
    var found = -1
    forEachNode(covering: address) { range in
      for entry in entries[range].reversed() {
        guard Int(entry.rank) > found else { break }
        if condition(Int(entry.rank)) { found = Int(entry.rank) }
      }
    }
    return found < 0 ? nil : found
  }
}
