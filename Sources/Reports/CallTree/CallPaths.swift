import TraceReader

/// The functions of stacks, by number, in the order of a tree.
struct CallPaths {
  /// What the numbers stand for.
  private(set) var table = CallFrameTable()
  private var numbersOfLocation = LocationTable<[Int]>()
  private let source: ReportSource
  private let options: CallTreeOptions

  /// Makes paths of the stacks of a trace.
  init(_ source: ReportSource, _ options: CallTreeOptions) {
    self.source = source
    self.options = options
  }

  private struct Key: Hashable, Comparable {
    var stack: StackID
    /// 0 where threads are not kept apart.
    var thread: ThreadIndex

    static func < (left: Key, right: Key) -> Bool {
      (left.thread, left.stack) < (right.thread, right.stack)
    }
  }

  /// Calls `body` with the path of each stack of these sites and the sum of what is counted of them.
  mutating func forEachPath<Weight: PathWeight>(
    of sites: [Site], weight: (Site) -> Weight, _ body: (_ path: [Int], _ sum: Weight) -> Void
  ) {
    let sums = SiteSums.of(
      sites,
      by: {
        Key(stack: $0.stack, thread: options.separatesThreads ? $0.thread : ThreadIndex(0))
      }, weight: weight)
    for (key, sum) in sums { body(path(of: key.stack, on: key.thread), sum) }
  }

  /// The functions of a stack, below the thread where threads are kept apart; never empty.
  private mutating func path(of stack: StackID, on thread: ThreadIndex) -> [Int] {
    let path = path(of: stack)
    guard options.separatesThreads else { return path }
    return [table.number(ofMarker: source.threads.summary(of: thread).text)] + path
  }

  private mutating func path(of stack: StackID) -> [Int] {
    var path: [Int] = []
    // Leaf first, as recorded.
    for (location, frame) in source.names.locations(of: stack) {
      path += numbers(of: location, frame)
    }
    if path.isEmpty {
      let text = stack == .none ? "<no stack recorded>" : "<system libraries>"
      return [table.number(ofMarker: text)]
    }
    if source.names.lacksRoot(stack) { path.append(table.number(ofMarker: "<callers not known>")) }
    if !options.isInverted { path.reverse() }
    guard options.flattensRecursion else { return path }
    return path.enumerated().filter { $0.offset == 0 || path[$0.offset - 1] != $0.element }
      .map(\.element)
  }

  private mutating func numbers(of location: Int, _ frame: RawFrame) -> [Int] {
    if let known = numbersOfLocation[location] { return known }
    let frames = source.names.frames(of: frame)
    let shown =
      options.hidesSystem ? frames.filter { $0.role == .user || $0.role == .marker } : frames
    let numbers = shown.map {
      table.number(of: CallFrame(name: $0.name, image: $0.imageName, role: $0.role))
    }
    numbersOfLocation[location] = numbers
    return numbers
  }
}
