import ArgumentParser
import Reports

extension HeapQuery.Order: ExpressibleByArgument {}

/// How the classes of a heap are looked at.
struct HeapViewOptions: ParsableArguments {
  @OptionGroup var snapshot: SnapshotChoiceOptions

  @Option(
    help: ArgumentHelp(
      "What the rows are sorted by. (default: count)", valueName: "column"))
  var sort: HeapQuery.Order?

  @Option(
    name: .customLong("class"),
    help: ArgumentHelp("Only classes with this name, which may hold * and ?.", valueName: "name"))
  var className: String?

  @Flag(name: .customLong("show-sizes"), help: "A row for each size of a class.")
  var showSizes = false

  @Flag(help: "List the blocks one by one, Swift objects with their reference counts.")
  var objects = false

  @OptionGroup var top: TopOptions

  /// Refuses what is without effect on a table of blocks.
  ///
  /// - Throws: `ValidationError`.
  func check(for output: OutputOptions) throws {
    guard objects, output.format == .csv else { return }
    let ignored = [("--sort", sort != nil), ("--show-sizes", showSizes)]
    if let (option, _) = ignored.first(where: \.1) {
      throw ValidationError(
        "\(option) is about the classes; csv with --objects has the blocks, by address.")
    }
  }

  /// What the user asks, in the terms of the report.
  func query(for output: OutputOptions) -> HeapQuery {
    var query = HeapQuery()
    query.snapshot = snapshot.choice
    query.order = sort ?? .count
    query.name = className
    query.separatesSizes = showSizes
    query.listsObjects = objects
    query.top = output.limit(top.top, text: 40, data: nil)
    return query
  }
}
