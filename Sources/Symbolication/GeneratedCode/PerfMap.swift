import TraceReader

/// The functions of code that a runtime generates, as it lists them for `perf`.
///
/// A line for each: where it begins and how many bytes it has, in hexadecimal, and its name, which may
/// have spaces. Memory is used again for other functions, whose lines come later: so where functions
/// overlap, an address belongs to the last one. Lines that say nothing are passed over.
///
/// Source: `tools/perf/Documentation/jit-interface.txt` of Linux.
struct PerfMap {
  /// A function.
  struct Function: Equatable {
    let start: UInt64
    /// As the runtime writes it.
    let name: String
  }

  private struct Entry {
    let start: UInt64
    let end: UInt64
    /// Where its name is among all bytes.
    let name: Range<Int>
  }

  private let bytes: [UInt8]
  private let entries: [Entry]
  /// Where another function begins, or none does, ascending.
  private let starts: [UInt64]
  /// For each of these the function; -1 for none.
  private let owners: [Int32]

  /// Longer names are cut.
  private static let longestName = 4096

  /// Reads the lines of a list; what is no UTF-8 in a name is replaced.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    entries = Self.entries(in: bytes)
    (starts, owners) = Self.areas(of: entries)
  }

  /// The function that holds an address; nil where there is none.
  func function(at address: UInt64) -> Function? {
    let next = starts.partitioningIndex { $0 > address }
    guard next > 0, owners[next - 1] >= 0 else { return nil }
    let entry = entries[Int(owners[next - 1])]
    return Function(
      start: entry.start, name: String(decoding: bytes[entry.name], as: UTF8.self))
  }

  /// What belongs to whom: from the last function to the first, each gets what is left of its bytes.
  private static func areas(of entries: [Entry]) -> (starts: [UInt64], owners: [Int32]) {
    var starts = entries.flatMap { [$0.start, $0.end] }.sorted()
    starts.removeDuplicates()
    var owners = [Int32](repeating: -1, count: starts.count)
    // For each area one behind it that may have no owner yet.
    var next = Array(0...starts.count)
    func free(from area: Int) -> Int {
      var end = area
      while next[end] != end { end = next[end] }
      var area = area
      while next[area] != end { (area, next[area]) = (next[area], end) }
      return end
    }
    for (number, entry) in entries.enumerated().reversed() {
      var area = free(from: starts.partitioningIndex { $0 >= entry.start })
      while area < starts.count, starts[area] < entry.end {
        owners[area] = Int32(truncatingIfNeeded: number)
        next[area] = area + 1
        area = free(from: area + 1)
      }
    }
    return (starts, owners)
  }

  private static func entries(in bytes: [UInt8]) -> [Entry] {
    var entries: [Entry] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      var rest = line
      guard let start = takeNumber(&rest), let size = takeNumber(&rest), size > 0,
        let name = name(in: rest), entries.count < Int(Int32.max)
      else { continue }
      let (end, isTooLarge) = start.addingReportingOverflow(size)
      entries.append(Entry(start: start, end: isTooLarge ? .max : end, name: name))
    }
    return entries
  }

  /// A number in hexadecimal, with or without `0x`, and the space behind it.
  private static func takeNumber(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
    if rest.starts(with: "0x".utf8) { rest = rest.dropFirst(2) }
    let digits = rest.prefix { $0 != UInt8(ascii: " ") }
    // The initializer would take a sign.
    guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
      digits.count < rest.count,
      let number = UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    else { return nil }
    rest = rest[digits.endIndex...].drop { $0 == UInt8(ascii: " ") }
    return number
  }

  /// Without what ends lines elsewhere; nil for nothing.
  private static func name(in rest: ArraySlice<UInt8>) -> Range<Int>? {
    var name = rest.prefix(longestName)
    while let last = name.last, last == UInt8(ascii: "\r") || last == UInt8(ascii: " ") {
      name.removeLast()
    }
    return name.isEmpty ? nil : name.startIndex..<name.endIndex
  }
}

extension Array where Element: Equatable {
  /// Leaves one of each run of equal elements.
  fileprivate mutating func removeDuplicates() {
    var count = 0
    for index in indices where count == 0 || self[count - 1] != self[index] {
      self[count] = self[index]
      count += 1
    }
    removeLast(self.count - count)
  }
}
