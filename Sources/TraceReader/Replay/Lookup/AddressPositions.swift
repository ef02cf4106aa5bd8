/// Finds the first of many ascending addresses that is not less than another, in constant time where they are not
/// far from each other.
///
/// A hash table says for each page with an address where its first one is. Other pages can be added.
struct AddressPositions {
  private struct Entry {
    /// One more than the number of the page; 0 for none.
    var page: UInt64
    /// The position of the first address in the page or behind it.
    var first: Int
    /// The position of the first address behind the page.
    var end: Int
  }

  /// Ascending, each once.
  let addresses: [UInt64]
  private var entries: [Entry]
  private var count = 0
  private var mask: Int
  private static let pageShift: UInt64 = 12
  /// Greater ranges are looked for among all addresses.
  private static let fewPages: UInt64 = 8

  init(_ addresses: [UInt64]) {
    self.addresses = addresses
    entries = Array(repeating: Entry(page: 0, first: 0, end: 0), count: 64)
    mask = entries.count - 1
    var first = 0
    for (position, address) in addresses.enumerated() {
      let page = address >> Self.pageShift
      guard position + 1 == addresses.count || addresses[position + 1] >> Self.pageShift != page
      else { continue }
      insert(Entry(page: page &+ 1, first: first, end: position + 1))
      first = position + 1
    }
  }

  /// The position of the first address in a range of so many bytes; nil where there is none.
  @inline(__always)
  func first(from start: UInt64, size: UInt64) -> Int? {
    let first = start >> Self.pageShift
    let (last, overflows) = start.addingReportingOverflow(max(size, 1) &- 1)
    guard !overflows, last >> Self.pageShift &- first < Self.fewPages else {
      return among(start, size, 0..<addresses.count)
    }
    var page = first
    while page <= last >> Self.pageShift {
      if let entry = entry(of: page) { return search(start, size, entry) }
      page &+= 1
    }
    return nil
  }

  /// The position of the first address from one on; nil where its page is not known.
  @inline(__always)
  func position(from start: UInt64) -> Int? {
    entry(of: start >> Self.pageShift).flatMap { search(start, .max, $0) }
  }

  @inline(never)
  private func search(_ start: UInt64, _ size: UInt64, _ entry: Entry) -> Int? {
    among(start, size, entry.first..<entry.end)
  }

  private func among(_ start: UInt64, _ size: UInt64, _ range: Range<Int>) -> Int? {
    let position = addresses[range].partitioningIndex { $0 >= start }
    guard position < addresses.count, addresses[position] &- start < max(size, 1) else {
      return nil
    }
    return position
  }

  /// Makes a page known in which no address needs to be; nothing changes for one that is known.
  ///
  /// - Parameters:
  ///   - address: Any address of the page.
  ///   - position: The position of the first address in the page or behind it.
  mutating func addPage(of address: UInt64, at position: Int) {
    let page = address >> Self.pageShift
    if entry(of: page) == nil {
      insert(Entry(page: page &+ 1, first: position, end: position))
    }
  }

  @inline(__always)
  private func slot(of page: UInt64) -> Int {
    Int(truncatingIfNeeded: (page &* 0x9e37_79b9_7f4a_7c15) >> 32) & mask
  }

  @inline(__always)
  private func entry(of page: UInt64) -> Entry? {
    var slot = slot(of: page)
    while entries[slot].page != 0 {
      if entries[slot].page == page &+ 1 { return entries[slot] }
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  /// Adds a page that is not there yet.
  private mutating func insert(_ entry: Entry) {
    if 2 * count >= entries.count { grow() }
    count += 1
    put(entry)
  }

  private mutating func put(_ entry: Entry) {
    var slot = slot(of: entry.page &- 1)
    while entries[slot].page != 0 { slot = (slot &+ 1) & mask }
    entries[slot] = entry
  }

  private mutating func grow() {
    let old = entries
    entries = Array(repeating: Entry(page: 0, first: 0, end: 0), count: 2 * old.count)
    mask = entries.count - 1
    for entry in old where entry.page != 0 { put(entry) }
  }
}
