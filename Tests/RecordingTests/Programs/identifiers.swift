// Cycles of objects that are registered by their identity, which does not hold them, and objects
// that the values of such a registry hold.

final class Page {
  var next: Page?
  init() { next = self }
}

final class HeldPage {
  var next: HeldPage?
  init() { next = self }
}

/// Leaks with none of the pages that it knows of.
final class Ticket {
  let page: ObjectIdentifier
  let other: ObjectIdentifier?
  init() {
    page = ObjectIdentifier(Page())
    other = ObjectIdentifier(Page())
  }
}

struct Registry {
  var seen: Set<ObjectIdentifier> = []
  var names: [ObjectIdentifier: String] = [:]
  var held: [ObjectIdentifier: HeldPage] = [:]
  var tickets: [Ticket] = []
  var list: [ObjectIdentifier] = []
  var pairs: [(Int, ObjectIdentifier)?] = []
}

/// In variables, beside a reference that holds.
struct Focus {
  var number = 1
  var page: ObjectIdentifier
  var held: HeldPage
}

nonisolated(unsafe) var registry = Registry()
nonisolated(unsafe) var latest: ObjectIdentifier?
nonisolated(unsafe) var focus: Focus?

enum Selection {
  nonisolated(unsafe) static var current = ObjectIdentifier(Page())
}

@inline(never) func keepInVariables() {
  latest = ObjectIdentifier(Page())
  focus = Focus(page: ObjectIdentifier(Page()), held: HeldPage())
  Selection.current = ObjectIdentifier(Page())
}

@inline(never) func main() {
  keepInVariables()
  for _ in 0..<10 {
    registry.seen.insert(ObjectIdentifier(Page()))
    registry.names[ObjectIdentifier(Page())] = "a name"
    let page = HeldPage()
    registry.held[ObjectIdentifier(page)] = page
    registry.tickets.append(Ticket())
    registry.list.append(ObjectIdentifier(Page()))
    registry.pairs.append((1, ObjectIdentifier(Page())))
  }
}

main()
print("done")
