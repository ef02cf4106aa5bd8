import TraceReader

/// A page that draws stacks as a flame graph, for a browser: a file of its own that loads nothing.
///
/// The page holds a tree of functions with all values of each, so that it can show another value, zoom
/// and search by itself.
public struct FlameGraph: Sendable {
  /// The page, part by part: the tree may be long.
  public private(set) var parts: [String] = []

  /// The values of each node, in the order in which the page has them.
  private static let values = ProfileValue.allCases

  /// What of a tree is drawn.
  public struct Query: Sendable {
    /// Which blocks are counted.
    public var filter = SiteFilter()
    /// The moment that the live blocks are as of, in words; nil for the end.
    public var moment: String?
    /// The value that the page shows first.
    public var shown = ProfileValue.liveBytes
    /// In which order functions come, and which.
    public var options = CallTreeOptions()
    /// Branches with a smaller share of every value are left out; in thousandths.
    public var leastShare: UInt64 = 1

    /// Makes a query for everything.
    public init() {}
  }

  /// Draws the stacks of a replay.
  ///
  /// - Throws: ``ReportError`` when a filter fits nothing.
  public init(_ result: ReplayResult, source: ReportSource, query: Query) throws {
    let sites = try query.filter.apply(to: result.sites, source: source)
    var paths = CallPaths(source, query.options)
    var tree = PathTree<Tally>()
    paths.forEachPath(of: sites, weight: \.tally) { tree.add($0, $1) }
    let frames = paths.table.frames
    tree.sortChildren { frames[$0.frame].name < frames[$1.frame].name }
    parts = [FlameGraphPage.beginning]
    add("title", source.trace.commandLine.printable)
    add("note", Self.note(query, isEstimate: result.sampling != nil))
    parts.append("const shown = \(Self.values.firstIndex(of: query.shown) ?? 0);\n")
    let descriptions = Self.values.map(Self.description).joined(separator: ", ")
    parts.append("const values = [\(descriptions)];\n")
    addNodes(of: tree, frames, query.leastShare)
    parts.append(FlameGraphPage.end)
  }

  private static func note(_ query: Query, isEstimate: Bool) -> String {
    var parts = query.filter.scope
    if let moment = query.moment { parts.append("live blocks as of \(moment)") }
    if query.options.isInverted { parts.append("allocating functions at the top, callers below") }
    if isEstimate { parts.append("estimates from a sample") }
    return parts.joined(separator: "; ")
  }

  private static func description(of value: ProfileValue) -> String {
    let name = value.rawValue.replacing("-", with: " ")
    return "[\"\(name)\", \(value.isBytes)]"
  }

  private mutating func add(_ name: String, _ text: String) {
    parts.append("const \(name) = \(Self.quoted(text));\n")
  }

  /// Writes the functions, and of each node its depth, the number of its function and its values,
  /// parents first.
  private mutating func addNodes(
    of tree: PathTree<Tally>, _ frames: [CallFrame], _ leastShare: UInt64
  ) {
    let all = Self.values.map { $0.of(tree.nodes[0].weight) }
    var functions = Numbering<Int>()
    var nodes: [String] = []
    var pending = [(index: 0, depth: 0)]
    while let (index, depth) = pending.popLast() {
      let node = tree.nodes[index]
      let values = Self.values.map { $0.of(node.weight) }
      let isShown = zip(values, all).contains {
        $0 > 0 && CallTreeReport.isShare($0, of: $1, atLeast: leastShare)
      }
      guard isShown || index == 0 else { continue }
      let fields =
        [depth, functions.number(of: node.frame)].map(String.init) + values.map(String.init)
      nodes.append("[" + fields.joined(separator: ",") + "]")
      pending += tree.children(of: index).reversed().map { ($0, depth + 1) }
    }
    addList("functions", functions.values.map { Self.function($0 < 0 ? nil : frames[$0]) })
    addList("nodes", nodes)
  }

  private mutating func addList(_ name: String, _ elements: [String]) {
    parts.append("const \(name) = [\n")
    parts += elements.map { $0 + ",\n" }
    parts.append("];\n")
  }

  /// Name, image and role.
  private static func function(_ frame: CallFrame?) -> String {
    guard let frame else { return "[\"all\", \"\", \"marker\"]" }
    let fields = [frame.name.printable, (frame.image ?? "").printable, frame.role.rawValue]
    return "[" + fields.map(quoted).joined(separator: ",") + "]"
  }

  /// A text in the source of a script within a page: nothing in it ends the script.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "<", ">", "&", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
