/// Where the values lie that a closure context holds.
///
/// They are at its end, one behind the other; in front of them are its header and, in generic code,
/// the types that it was made for.
public struct SwiftCaptureLayout: Sendable, Hashable {
  /// Where `unowned` references are, in bytes from the end of the context's last word: these do not hold
  /// what they point to.
  public var unownedFromEnd: [UInt64]
  /// Where references are that the objects count which they lead to, in bytes from the end of the context's last
  /// word: to instances of classes, the contexts of functions, and what arrays, dictionaries and sets keep their elements in.
  public var countedFromEnd: [UInt64]
  /// Where words begin that hold small numbers alone, in bytes from the end of the context: behind
  /// these stands what was there before.
  public var numbersFromEnd: [UInt64]

  /// Lays out what the recorder writes of a closure context: `[MANGLED]` for each value.
  ///
  /// - Returns: nil where the size of a value is not known, as of structures.
  public init?(_ captures: String) {
    var unowned: [UInt64] = []
    var counted: [UInt64] = []
    var numbers: [UInt64] = []
    var end: UInt64 = 0
    for mangled in Self.types(captures) {
      guard let size = Self.size(of: mangled[...]) else { return nil }
      let alignment = min(size, 8)
      let start = (end + alignment - 1) & ~(alignment - 1)
      if Self.isUnowned(mangled[...]) { unowned.append(start) }
      if let place = Self.countedReference(in: mangled[...]) { counted.append(start + place) }
      end = start + size
      // The last word of the value, where the value does not take all of it.
      if end % 8 != 0, numbers.last != end & ~7 { numbers.append(end & ~7) }
    }
    unownedFromEnd = unowned.map { ((end + 7) & ~7) - $0 }
    countedFromEnd = counted.map { ((end + 7) & ~7) - $0 }
    numbersFromEnd = numbers.map { end - $0 }
  }

  /// The mangled types of what a closure captures; an empty text stands for one that is not known.
  static func types(_ captures: String) -> [String] {
    captures.split(separator: "]", omittingEmptySubsequences: true).map { String($0.dropFirst()) }
  }

  /// Whether a value refers to an object without holding it.
  static func isUnowned(_ mangled: Substring) -> Bool {
    mangled.hasSuffix("Xo") || mangled.hasSuffix("Xu")
  }

  /// Where in a value the reference is that its object counts; nil where none is known for certain.
  static func countedReference(in mangled: Substring) -> UInt64? {
    if isClosure(mangled) { return 8 }
    if isCollection(mangled) { return 0 }
    let content = mangled.hasSuffix("Sg") ? mangled.dropLast(2) : mangled
    return content.hasSuffix("C") ? 0 : nil
  }

  /// How many bytes a value takes, as far as its mangled type tells.
  static func size(of mangled: Substring) -> UInt64? {
    if let size = sizes[mangled] { return size }
    if isCollection(mangled) { return 8 }
    if isClosure(mangled) { return 16 }
    if mangled.hasSuffix("Xx") || mangled.hasSuffix("XX") { return 8 }
    let reference = isUnowned(mangled) ? mangled.dropLast(2) : mangled
    let content = reference.hasSuffix("Sg") ? reference.dropLast(2) : reference
    if content.hasSuffix("C") { return 8 }
    // A generic type that is no class cannot be unowned.
    return isUnowned(mangled) && content.hasSuffix("G") ? 8 : nil
  }

  /// Whether a value is an array, a dictionary or a set.
  private static func isCollection(_ mangled: Substring) -> Bool {
    let content = mangled.hasSuffix("Sg") ? mangled.dropLast(2) : mangled
    return content.last == "G" && ["Say", "SDy", "Shy"].contains { content.hasPrefix($0) }
  }

  /// How a function is called stands between `I` and the line at the end, as in `SiSSIegyr_`: `g` for
  /// one with a context, if no letters for another representation follow.
  private static func isClosure(_ mangled: Substring) -> Bool {
    guard mangled.last == "_", let start = mangled.lastIndex(of: "I") else { return false }
    let conventions = mangled[start...].dropFirst().dropLast().drop { $0 == "e" || $0 == "A" }
    guard conventions.first == "g" else { return false }
    let rest = conventions.dropFirst()
    return rest.allSatisfy { $0.isASCII && $0.isLetter }
      && !["B", "C", "M", "O", "K", "W", "zB", "zC"].contains { rest.hasPrefix($0) }
  }

  private static let sizes: [Substring: UInt64] = [
    "Si": 8, "Su": 8, "Sd": 8, "Sf": 4, "Sb": 1, "SS": 16, "SbSg": 1, "SSSg": 16, "s4Int8V": 1,
    "s5UInt8V": 1,
    "s5Int16V": 2, "s6UInt16V": 2, "s5Int32V": 4, "s6UInt32V": 4, "s5Int64V": 8, "s6UInt64V": 8,
  ]
}
