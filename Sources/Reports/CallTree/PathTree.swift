import TraceReader

/// What can be summed up along paths.
protocol PathWeight {
  /// Nothing.
  init()
  /// Adds another weight.
  static func += (left: inout Self, right: Self)
}

extension Tally: PathWeight {}
extension UInt64: PathWeight {}

/// The sum of paths by their common beginnings.
///
/// Node 0 is the sum of everything; a node's parent always comes before it. Paths are added first, then
/// children are sorted. There can be millions of nodes: nothing of one lies in memory of its own.
struct PathTree<Weight: PathWeight> {
  struct Node {
    fileprivate var frameNumber: Int32
    fileprivate var parent: Int32
    var weight = Weight()

    /// The element of the path that the node stands for; -1 for the sum.
    var frame: Int { Int(frameNumber) }
  }

  private(set) var nodes = [Node(frameNumber: -1, parent: -1)]
  /// One more than the node at a place of the hash table; 0 where none is.
  ///
  /// As many as a power of two, half of them free.
  private var places = [UInt32](repeating: 0, count: 64)
  /// Nobody can foresee which paths fall into one place.
  private let factor = UInt64.random(in: .min ... .max) | 1
  /// The children of all nodes, those of node *n* from `firstChildren[n]` to `firstChildren[n + 1]`.
  private var children: [Int32] = []
  private var firstChildren: [Int32] = []

  /// Adds a weight to each node of a path, from the root on.
  mutating func add(_ path: [Int], _ weight: Weight) {
    var node = 0
    nodes[0].weight += weight
    for frame in path {
      node = child(of: Int32(node), Int32(frame))
      nodes[node].weight += weight
    }
  }

  /// The child of a node, which is made if there is none.
  private mutating func child(of parent: Int32, _ frame: Int32) -> Int {
    var place = home(parent, frame)
    while places[place] != 0 {
      let node = Int(places[place] - 1)
      if nodes[node].parent == parent, nodes[node].frameNumber == frame { return node }
      place = (place + 1) & (places.count - 1)
    }
    nodes.append(Node(frameNumber: frame, parent: parent))
    places[place] = UInt32(nodes.count)
    if nodes.count * 2 > places.count { growPlaces() }
    return nodes.count - 1
  }

  private func home(_ parent: Int32, _ frame: Int32) -> Int {
    let key = UInt64(UInt32(bitPattern: parent)) << 32 | UInt64(UInt32(bitPattern: frame))
    // Twice, as the product alone has the same highest bits for many of such keys.
    let mixed = (key ^ key >> 32) &* factor
    return Int(((mixed ^ mixed >> 32) &* factor) >> UInt64(64 - places.count.trailingZeroBitCount))
  }

  private mutating func growPlaces() {
    places = [UInt32](repeating: 0, count: places.count * 2)
    for node in 1..<nodes.count {
      var place = home(nodes[node].parent, nodes[node].frameNumber)
      while places[place] != 0 { place = (place + 1) & (places.count - 1) }
      places[place] = UInt32(node + 1)
    }
  }

  /// Puts the children of each node in order, after which no path can be added.
  mutating func sortChildren(by precedes: (Node, Node) -> Bool) {
    places = []
    firstChildren = [Int32](repeating: 0, count: nodes.count + 1)
    for node in nodes.dropFirst() { firstChildren[Int(node.parent) + 1] += 1 }
    for node in nodes.indices { firstChildren[node + 1] += firstChildren[node] }
    var ends = firstChildren
    children = [Int32](repeating: 0, count: nodes.count - 1)
    for (node, parent) in nodes.lazy.map({ Int($0.parent) }).enumerated().dropFirst() {
      children[Int(ends[parent])] = Int32(node)
      ends[parent] += 1
    }
    for node in nodes.indices {
      let range = Int(firstChildren[node])..<Int(firstChildren[node + 1])
      guard range.count > 1 else { continue }
      children[range].sort { precedes(nodes[Int($0)], nodes[Int($1)]) }
    }
  }

  /// The children of a node, once they are sorted.
  func children(of node: Int) -> some BidirectionalCollection<Int> {
    children[Int(firstChildren[node])..<Int(firstChildren[node + 1])].lazy.map { Int($0) }
  }
}
