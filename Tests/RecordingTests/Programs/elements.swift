// Arrays, dictionaries and sets: what they hold, and what they only know.

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

protocol Listener: AnyObject { func use() }
protocol Shape { func use() }
protocol Named {}
class Base {}

/// Holds itself by one of its collections.
final class Keeper: Base, Hashable, Listener, Shape, Named {
  var listeners: [any Listener] = []
  var shapes: [any Shape] = []
  var shapesByName: [String: any Shape] = [:]
  var closures: [() -> Void] = []
  var named: [(name: String, keeper: Keeper)] = []
  var cases: [Case] = []
  var handlers: [String: () -> Void] = [:]
  var groups: [String: [Keeper?]] = [:]
  var numbers: [Keeper: Int] = [:]
  var labels: [Label: Int] = [:]
  var members: Set<Keeper> = []
  var tree = Tree<Keeper>.leaf
  var owners: [Owner] = []
  var pairs: [(number: Int, owner: Owner)] = []
  var several: [any Shape & Named & CustomStringConvertible] = []
  var objects: [any Shape & Named & AnyObject] = []
  var listed: [any Shape & Listener] = []
  var inherited: [Base & Shape] = []
  var optionals: [(any Shape)?] = []
  var sendable: [String: any Shape & Named & Sendable] = [:]
  enum Case { case none, some(Keeper, UInt8) }
  /// One reference alone.
  struct Owner { let keeper: Keeper }
  struct Label: Hashable {
    var number: Int
    var keeper: Keeper
  }
  static func == (left: Keeper, right: Keeper) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  func use() {}
}
extension Keeper: @unchecked Sendable, CustomStringConvertible {
  var description: String { "Keeper" }
}

final class Other: Listener { func use() {} }
struct Circle: Shape, Named, CustomStringConvertible {
  var description: String { "Circle" }
  var radius: Double
  func use() {}
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

/// The same for an object of any class.
struct Unowned<Object: AnyObject> {
  var name: String
  unowned let object: Object
}

final class Reader {
  let page: Unowned<Page>
  init(_ page: Page) { self.page = Unowned(name: "page", object: page) }
}

indirect enum Tree<Value> {
  case leaf
  case node(Tree<Value>, Value, Tree<Value>)
}

nonisolated(unsafe) let base = Base()
nonisolated(unsafe) var calls: [() -> Int] = []
nonisolated(unsafe) var readers: [Reader] = []
nonisolated(unsafe) var pages: [Unowned<Page>] = []
nonisolated(unsafe) var bookmarks: [Bookmark] = []
nonisolated(unsafe) var numbered: [(UInt8, Bookmark)] = []
nonisolated(unsafe) var marked: [String: Bookmark] = [:]

@inline(never) func capture(_ bookmark: Bookmark, _ other: Unowned<Page>) {
  var last = bookmark
  calls.append { bookmark.number + other.name.count }
  calls.append {
    last.number += 1
    return last.number
  }
}

@inline(never) func mark() {
  for number in 0..<3 {
    capture(Bookmark(page: Page(), number: number), Unowned(name: "page", object: Page()))
  }
  for number in 0..<3 { bookmarks.append(Bookmark(page: Page(), number: number)) }
  for number in 0..<3 { numbered.append((1, Bookmark(page: Page(), number: number))) }
  for _ in 0..<3 { pages.append(Unowned(name: "page", object: Page())) }
  for _ in 0..<3 { readers.append(Reader(Page())) }
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

@inline(never) func keep(_ keepers: [Keeper]) {
  keepers[0].closures = [{}, { [keeper = keepers[0]] in keeper.use() }]
  keepers[1].named = [("one", keepers[1])]
  keepers[2].cases = [.none, .some(keepers[2], 1)]
  keepers[3].handlers["a"] = { [keeper = keepers[3]] in keeper.use() }
  keepers[4].groups["a"] = [nil, keepers[4]]
  keepers[5].numbers[keepers[5]] = 1
  keepers[6].labels[Keeper.Label(number: 1, keeper: keepers[6])] = 1
  keepers[7].members.insert(keepers[7])
  keepers[8].listeners = [Other(), keepers[8]]
  keepers[9].shapes = [Circle(radius: 1), keepers[9]]
  keepers[10].shapesByName["a"] = keepers[10]
  keepers[11].tree = .node(.leaf, keepers[11], .leaf)
  keepers[12].owners = [Keeper.Owner(keeper: keepers[12])]
  keepers[13].pairs = [(1, Keeper.Owner(keeper: keepers[13]))]
  keepers[14].several = [Circle(radius: 1), keepers[14]]
  keepers[15].objects = [Keeper(), keepers[15]]
  keepers[16].listed = [Keeper(), keepers[16]]
  keepers[17].inherited = [Keeper(), keepers[17]]
  keepers[18].optionals = [nil, keepers[18]]
  keepers[19].sendable["a"] = keepers[19]
}

@inline(never) func main() {
  mark()
  link(Node())
  nest(Node())
  number(Node())
  name(Node())
  // In a line each, so that each has a stack of its own.
  keep([
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
    Keeper(),
  ])
}

main()
print(
  base is Keeper, calls.count, bookmarks.count, marked.count, pages.count, readers.count,
  numbered.count)
