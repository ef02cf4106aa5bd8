// Arrays of structures: what their elements hold, and what they only know.

final class Page {
  var me: Page?
  init() { me = self }
}

final class Node {
  var edges: [Edge] = []
  var nested: [Node.Tagged] = []
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

@inline(never) func mark() {
  for number in 0..<3 { bookmarks.append(Bookmark(page: Page(), number: number)) }
}

@inline(never) func link(_ node: Node) {
  node.edges = [Edge(weight: 1, target: nil), Edge(weight: 2, target: node)]
}

@inline(never) func nest(_ node: Node) {
  node.nested = [Node.Tagged(tag: 1, settings: Settings(level: 2, owner: node))]
}

@inline(never) func main() {
  mark()
  link(Node())
  nest(Node())
}

main()
print(bookmarks.count)
