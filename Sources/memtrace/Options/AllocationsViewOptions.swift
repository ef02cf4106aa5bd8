import ArgumentParser
import Reports

extension AllocationsGrouping: ExpressibleByArgument {}
extension AllocationsOrder: ExpressibleByArgument {}

/// How the Allocations instrument is looked at.
struct AllocationsViewOptions: ParsableArguments {
  @Flag(help: "List single blocks.")
  var blocks = false

  @Flag(name: .customLong("call-tree"), help: "Show who called whom to allocate how much.")
  var callTree = false

  @Option(
    name: .customLong("group-by"),
    help: ArgumentHelp(
      "What the rows of the table stand for. (default: category)", valueName: "what"))
  var groupBy: AllocationsGrouping?

  @Option(
    help: ArgumentHelp(
      "All blocks, those that persist (created and still living), or those that are transient. "
        + "(default: all; persistent for --blocks and --call-tree with --live-at)",
      valueName: "which"))
  var lifespan: Lifespan?

  @Option(
    help: ArgumentHelp(
      "What the rows are sorted by; with --blocks, persistent-bytes is by size. (default: "
        + "persistent-bytes; blocks by time)",
      valueName: "column"))
  var sort: AllocationsOrder?

  @OptionGroup var top: TopOptions

  @Flag(help: "Show all columns: Transient Bytes, Events and Temporary, too.")
  var wide = false

  @Option(
    help: ArgumentHelp(
      "The columns of the text, separated by commas: "
        + AllocationsColumn.allCases.map(\.rawValue).joined(separator: ", ") + ".",
      valueName: "columns"),
    completion: .list(AllocationsColumn.allCases.map(\.rawValue)), transform: Self.columns)
  var columns: [AllocationsColumn] = []

  /// The blocks that single blocks and call trees show: what was live at a moment, if one is given.
  func lifespan(at moment: LiveMoment?) -> Lifespan {
    lifespan ?? (moment == nil ? .all : .persistent)
  }

  /// The columns that were asked for.
  var shownColumns: [AllocationsColumn] {
    columns.isEmpty ? (wide ? AllocationsColumn.wide : AllocationsColumn.standard) : columns
  }

  /// Whether single blocks are sorted by size; they are by time else.
  var sortsBySize: Bool { sort == .persistentBytes || sort == .totalBytes }

  mutating func validate() throws {
    if blocks && callTree { throw ValidationError("Give --blocks or --call-tree, not both.") }
    guard blocks || callTree else { return }
    let view = blocks ? "--blocks" : "--call-tree"
    let ofTable = [
      ("--group-by", groupBy != nil), ("--wide", wide), ("--columns", !columns.isEmpty),
    ]
    if let option = ofTable.first(where: \.1)?.0 {
      throw ValidationError("\(option) is about the table and does not go with \(view).")
    }
    if let sort, !(blocks && sortsBySize) {
      let instead =
        blocks
        ? "blocks come by time, or by size with persistent-bytes" : "a tree has no other order"
      throw ValidationError("--sort \(sort.rawValue) does not go with \(view): \(instead).")
    }
  }

  @Sendable private static func columns(_ text: String) throws -> [AllocationsColumn] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
      guard let column = AllocationsColumn(rawValue: String(name)) else {
        let names = AllocationsColumn.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("there is no column '\(name)'; there are \(names)")
      }
      return column
    }
  }
}

/// How a call tree is put together.
struct CallTreeViewOptions: ParsableArguments {
  @Flag(help: "From the allocating functions up to their callers.")
  var invert = false

  @Flag(name: .customLong("hide-system"), help: "Leave out system libraries and runtimes.")
  var hideSystem = false

  @Flag(
    name: .customLong("flatten-recursion"), help: "Show a function that calls itself only once.")
  var flattenRecursion = false

  @Flag(name: .customLong("separate-threads"), help: "A tree for each thread.")
  var separateThreads = false

  @Option(
    name: .customLong("min-percent"),
    help: ArgumentHelp(
      "Leave out branches with less of the bytes and blocks. (default: 1 in text, 0.1 in html, else 0)",
      valueName: "percent"))
  var minPercent: Double?

  mutating func validate() throws {
    if let minPercent, !(0...100).contains(minPercent) {
      throw ValidationError("--min-percent takes 0 to 100, not \(minPercent).")
    }
  }

  /// The least share in thousandths.
  var leastShare: UInt64? { minPercent.map { UInt64(($0 * 10).rounded()) } }

  /// The options in the terms of the reports.
  var options: CallTreeOptions {
    var options = CallTreeOptions()
    options.isInverted = invert
    options.hidesSystem = hideSystem
    options.flattensRecursion = flattenRecursion
    options.separatesThreads = separateThreads
    return options
  }

  /// The first of these options that was given; nil when none was.
  var given: String? {
    let flags = [
      ("--invert", invert), ("--hide-system", hideSystem),
      ("--flatten-recursion", flattenRecursion), ("--separate-threads", separateThreads),
      ("--min-percent", minPercent != nil),
    ]
    return flags.first { $0.1 }?.0
  }
}
