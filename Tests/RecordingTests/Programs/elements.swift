// Arrays and dictionaries of structures: what they hold, and what they only know.

final class Page {
  var me: Page?
  init() { me = self }
}

final class Node {
  var edges: [Edge] = []
  var nested: [Node.Tagged] = []
  var byNumber: [Int: Edge] = [:]
  var byName: [String: Node] = [:]
  struct Tagged {
    var tag: UInt8
    var settings: Settings
  }
}

struct Settings {
  var level = 1
  var owner: Node?
}

struct Edge {
  var weight: Int
  var target: Node?
}

/// Does not hold its page, which thus is leaked.
struct Bookmark {
  unowned let page: Page
  var number: Int
}

nonisolated(unsafe) var bookmarks: [Bookmark] = []
nonisolated(unsafe) var marked: [String: Bookmark] = [:]

@inline(never) func mark() {
  for number in 0..<3 { bookmarks.append(Bookmark(page: Page(), number: number)) }
  for number in 0..<3 { marked["\(number)"] = Bookmark(page: Page(), number: number) }
}

@inline(never) func link(_ node: Node) {
  node.edges = [Edge(weight: 1, target: nil), Edge(weight: 2, target: node)]
}

@inline(never) func nest(_ node: Node) {
  node.nested = [Node.Tagged(tag: 1, settings: Settings(level: 2, owner: node))]
}

@inline(never) func number(_ node: Node) { node.byNumber[7] = Edge(weight: 1, target: node) }

@inline(never) func name(_ node: Node) { node.byName["a name"] = node }

@inline(never) func main() {
  mark()
  link(Node())
  nest(Node())
  number(Node())
  name(Node())
}

main()
print(bookmarks.count, marked.count)
