// Cycles that only buckets of dictionaries and sets held which are not in use any more, and cycles in
// buckets that are.

final class Page: Hashable {
  let number: Int
  var next: Page?
  init(_ number: Int) {
    self.number = number
    next = self
  }
  static func == (left: Page, right: Page) -> Bool { left.number == right.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

final class HeldPage {
  var next: HeldPage?
  init() { next = self }
}

struct Entry {
  var flag: UInt8
  var page: AnyObject
}

/// All pages stay in their buckets as long as the tables are not emptied or grown.
struct Tables {
  var names: [String: AnyObject] = [:]
  var pages: Set<Page> = []
  var flags: [UInt8: Entry] = [:]

  mutating func fill() {
    names.reserveCapacity(200)
    pages.reserveCapacity(200)
    flags.reserveCapacity(200)
    for number in 0..<100 {
      names["the page number \(number)"] = Page(number)
      pages.insert(Page(number))
      flags[UInt8(number)] = Entry(flag: 1, page: Page(number))
    }
  }

  mutating func empty() {
    for number in 0..<100 {
      names["the page number \(number)"] = nil
      pages.remove(Page(number))
      flags[UInt8(number)] = nil
    }
  }

  mutating func hold() {
    for number in 100..<150 {
      names["the held page number \(number)"] = HeldPage()
      flags[UInt8(number)] = Entry(flag: 1, page: HeldPage())
    }
  }
}

nonisolated(unsafe) var tables = Tables()

@inline(never) func main() {
  tables.fill()
  tables.empty()
  tables.hold()
}

main()
print("done")
