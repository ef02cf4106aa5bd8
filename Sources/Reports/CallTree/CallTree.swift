import TraceReader

/// How a call tree is put together.
public struct CallTreeOptions: Sendable, Hashable, Encodable {
  /// From the allocating function up to the callers instead of from `main` down.
  public var isInverted = false
  /// Leaves out the frames of system libraries and runtimes.
  public var hidesSystem = false
  /// Shows a function that calls itself once.
  public var flattensRecursion = false
  /// A tree for each thread.
  public var separatesThreads = false

  /// Makes the options of a plain tree from the roots down.
  public init() {}
}

/// The sum of stacks by their common beginnings.
///
/// Node 0 is the sum of everything; a node's parent always comes before it.
struct CallTree {
  struct Node {
    /// Number in `table`; -1 for the sum.
    var frame: Int
    var parent: Int
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    var bytesVariance = 0.0
    var children: [Int] = []

    fileprivate mutating func add(_ weight: Weight) {
      bytes &+= weight.bytes
      count &+= weight.count
      bytesVariance += weight.bytesVariance
    }
  }

  private(set) var nodes = [Node(frame: -1, parent: -1)]
  private(set) var table = CallFrameTable()
  private var childIndices: [UInt64: Int] = [:]
  private var numbersOfNode: [StackID: [Int]] = [:]
  private let options: CallTreeOptions

  /// Sums up the sites; bytes and blocks are the totals of their tallies.
  init(_ sites: [Site], source: ReportSource, options: CallTreeOptions) {
    self.options = options
    var weights: [Key: Weight] = [:]
    for site in sites {
      let thread = options.separatesThreads ? site.thread : ThreadIndex(0)
      let key = Key(stack: site.stack, thread: thread)
      weights[key, default: Weight()].add(site)
    }
    for (key, weight) in weights.sorted(by: { $0.key < $1.key }) {
      var path = path(of: key.stack, names: source.names)
      if options.separatesThreads {
        let name = source.threads.summary(of: key.thread).text
        path.insert(table.number(ofMarker: name), at: 0)
      }
      add(path, weight)
    }
    sortChildren()
  }

  fileprivate struct Weight {
    var bytes: UInt64 = 0
    var count: UInt64 = 0
    var bytesVariance = 0.0

    mutating func add(_ site: Site) {
      bytes &+= site.tally.totalBytes
      count &+= site.tally.totalCount
      bytesVariance += site.variance?.totalBytes ?? 0
    }
  }

  private struct Key: Hashable, Comparable {
    var stack: StackID
    var thread: ThreadIndex
    static func < (left: Key, right: Key) -> Bool {
      (left.thread, left.stack) < (right.thread, right.stack)
    }
  }

  /// The functions of a stack in the order of the tree.
  private mutating func path(of stack: StackID, names: StackNames) -> [Int] {
    var path: [Int] = []
    // Leaf first, as recorded.
    for (node, frames) in names.framesByNode(of: stack) {
      path += numbers(of: node, frames)
    }
    if path.isEmpty {
      let text = stack == .none ? "<no stack recorded>" : "<system libraries>"
      return [table.number(ofMarker: text)]
    }
    if names.lacksRoot(stack) { path.append(table.number(ofMarker: "<callers not known>")) }
    if !options.isInverted { path.reverse() }
    guard options.flattensRecursion else { return path }
    return path.enumerated().filter { $0.offset == 0 || path[$0.offset - 1] != $0.element }
      .map(\.element)
  }

  private mutating func numbers(of node: StackID, _ frames: [ReportFrame]) -> [Int] {
    if let known = numbersOfNode[node] { return known }
    let shown =
      options.hidesSystem ? frames.filter { $0.role == .user || $0.role == .marker } : frames
    let numbers = shown.map {
      table.number(of: CallFrame(name: $0.name, image: $0.imageName, role: $0.role))
    }
    numbersOfNode[node] = numbers
    return numbers
  }

  private mutating func add(_ path: [Int], _ weight: Weight) {
    var node = 0
    nodes[0].add(weight)
    for frame in path {
      let key = UInt64(node) << 32 | UInt64(UInt32(truncatingIfNeeded: frame))
      if let child = childIndices[key] {
        node = child
      } else {
        let child = nodes.count
        childIndices[key] = child
        nodes.append(Node(frame: frame, parent: node))
        nodes[node].children.append(child)
        node = child
      }
      nodes[node].add(weight)
    }
  }

  /// The heaviest first, then by name.
  private mutating func sortChildren() {
    for index in nodes.indices where nodes[index].children.count > 1 {
      let sorted = nodes[index].children.sorted { left, right in
        let (first, second) = (nodes[left], nodes[right])
        if first.bytes != second.bytes { return first.bytes > second.bytes }
        if first.count != second.count { return first.count > second.count }
        return table.frames[first.frame].name < table.frames[second.frame].name
      }
      nodes[index].children = sorted
    }
  }
}
