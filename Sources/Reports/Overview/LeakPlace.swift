/// Leaked blocks of one type that one place of the program allocated, whoever called it.
///
/// An interpreter allocates with a thousand stacks what leaks for one reason: each would take a line of the
/// page and look alike.
public struct LeakPlace: Sendable, Hashable, Encodable {
  /// What the blocks are.
  public var name: String
  /// The responsible frame; nil without a stack.
  public var responsible: ReportFrame?
  /// The ID of the stack with the most bytes of it.
  public var stack: UInt32
  /// How many stacks there are; those that read alike count once.
  public var stackCount: Int
  /// Requested bytes of all blocks.
  public var bytes: UInt64
  /// How many blocks.
  public var count: UInt64
  /// Requested bytes of the trees that these are the heads of: of what they drag along, and their own.
  public var treeBytes: UInt64 = 0
  /// How many blocks are in these trees.
  public var treeCount: UInt64 = 0

  private struct Key: Hashable {
    var name: String
    var responsible: ReportFrame?
  }

  /// Adds up rows of stacks by place.
  ///
  /// - Parameter rows: The one with the most bytes first.
  /// - Returns: The place with the most bytes first, of its own or of its trees.
  static func find(_ rows: some Sequence<LeakRow>) -> [LeakPlace] {
    var places: [Key: LeakPlace] = [:]
    for row in rows {
      let key = Key(name: row.name, responsible: row.responsible?.asPlace)
      var place =
        places[key]
        ?? LeakPlace(
          name: row.name, responsible: row.responsible, stack: row.stack, stackCount: 0, bytes: 0,
          count: 0)
      place.stackCount += 1
      place.bytes &+= row.bytes
      place.count &+= row.count
      place.treeBytes &+= row.treeBytes ?? 0
      place.treeCount &+= row.treeCount ?? 0
      places[key] = place
    }
    return places.values.sorted {
      let first = (max($0.bytes, $0.treeBytes), $0.treeBytes)
      let second = (max($1.bytes, $1.treeBytes), $1.treeBytes)
      guard first == second else { return first > second }
      return ($1.count, $0.name, $0.stack) < ($0.count, $1.name, $1.stack)
    }
  }
}
