// Objects that are leaked, as only `unowned` references lead to them, and cycles: in variables, boxes of errors, and
// optional structures, in which a lazy property, a property wrapper, an array or a closure has them.
final class Page {
  var number = 1
}

/// Nothing but a reference that is never given back keeps it.
@inline(never) func newPage() -> Page {
  Unmanaged.passRetained(Page()).takeUnretainedValue()
}

protocol Listener: AnyObject {}
protocol Named {}

final class Node: Listener, Named {
  var owner: AnyObject?
}

/// Does not hold its page, which thus is leaked.
struct State {
  unowned var page = newPage()
  var count = 0
}

struct Link {
  var count: Int16 = 1
  unowned var page = newPage()
  var node: Node
}

struct Pair<First, Second> {
  var first: First
  var isNew = true
  var second: Second
}

struct Failure: Error, @unchecked Sendable {
  var code = 1
  unowned var page = newPage()
  var node: Node?
}

@propertyWrapper struct Stored<Value> {
  var wrappedValue: Value
}

final class Lazy {
  lazy var link: Link? = nil
  lazy var pair: (Int, node: Node)? = nil
}

final class Wrapped {
  @Stored var link: Link? = nil
  @Stored var state: State? = nil
}

final class Lists {
  var links: [Link?] = []
  var byNumber: [Int: Link?] = [:]
}

final class Listeners {
  var pair: Pair<any Listener & Named, Node>?
  var list: [(any Listener)?] = []
}

final class Failing {
  var error: (any Error)?
}

final class Calling {
  var call: () -> Void = {}
}

nonisolated(unsafe) var state: State?
nonisolated(unsafe) var numbered: (Int, State)?
enum Current { nonisolated(unsafe) static var state: State? }
nonisolated(unsafe) var kept: [AnyObject] = []
nonisolated(unsafe) var latest: AnyObject?

/// The optimizer leaves no owner out, as a variable has held it.
func node(_ owner: AnyObject?) -> Node {
  let node = Node()
  node.owner = owner
  latest = owner
  return node
}

@inline(never) func fillVariables() {
  state = State()
  numbered = (1, State())
  Current.state = State()
}

/// A page in each of the first three, two in the last.
@inline(never) func keep() {
  let (failing, lazy, wrapped, lists) = (Failing(), Lazy(), Wrapped(), Lists())
  failing.error = Failure()
  lazy.link = Link(node: node(nil))
  wrapped.state = State()
  lists.links = [nil, Link(node: node(nil))]
  lists.byNumber[1] = Link(node: node(nil))
  kept = [failing, lazy, wrapped, lists]
}

@inline(never) func leakByProperties() {
  let (first, second, third) = (Lazy(), Lazy(), Wrapped())
  first.link = Link(node: node(first))
  second.pair = (1, node(second))
  third.link = Link(node: node(third))
}

@inline(never) func leakByElements() {
  let (first, second) = (Lists(), Lists())
  first.links = [nil, Link(node: node(first))]
  second.byNumber[1] = Link(node: node(second))
}

@inline(never) func leakByProtocols() {
  let (first, second) = (Listeners(), Listeners())
  first.pair = Pair(first: Node(), second: node(first))
  second.list = [nil, node(second)]
}

@inline(never) func call(
  _ listener: any Listener & Named, _ isNew: Bool, _ node: Node
) -> () -> Void {
  { print(listener, isNew, node) }
}

@inline(never) func leakByErrorsAndClosures() {
  let (failing, calling) = (Failing(), Calling())
  failing.error = Failure(node: node(failing))
  calling.call = call(Node(), true, node(calling))
}

@inline(never) func clearStack(_ depth: Int) -> Int {
  depth == 0 ? 0 : 1 + clearStack(depth - 1)
}

fillVariables()
keep()
leakByProperties()
leakByElements()
leakByProtocols()
leakByErrorsAndClosures()
latest = nil
print(clearStack(50), kept.count)
