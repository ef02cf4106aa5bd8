/// The types that a function of Swift belongs to.
enum MethodOwner {
  /// Finds the types in the short name of a function, the innermost first.
  ///
  /// `closure #1 in Cache.Entry.value.setter` -> `Cache.Entry`, `Cache`.
  ///
  /// - Parameter function: The name as reports write it.
  /// - Returns: The paths of the types; none of what belongs to no type.
  static func types(of function: String) -> [String] {
    let name = function.prefix { $0 != "(" }.split(separator: " ").last ?? ""
    var path = name.split(separator: ".")[...]
    if path.last.map({ accessors.contains($0) }) == true { path.removeLast() }
    path = path.dropLast()
    return (0..<path.count).map { path.dropLast($0).joined(separator: ".") }
  }

  private static let accessors: Set<Substring> = [
    "getter", "setter", "modify", "read", "modify2", "read2", "willset", "didset",
  ]
}
