// Objects that are leaked, as only `unowned` references lead to them, and cycles: all through generic structures, whose
// size depends on their arguments, and what a Mutex guards.
import Synchronization

final class Page {
  var this: Page?
  init() { this = self }
}

@inline(never) func newPage() -> Page { Page() }

final class Node {
  var owner: AnyObject?
}

/// Does not hold its page, which thus is leaked.
struct State {
  var count = 0
  unowned var page = newPage()
  var node: Node?
}

struct Cell<Value> {
  var value: Value
  unowned let page = newPage()
  var node: Node?
}

final class Guarded {
  let state = Mutex(State())
}

final class Owner {
  var cell = Cell(value: "a text")
  var small = Cell(value: UInt8(1))
  var nested = Cell(value: Cell(value: 1.5))
}

final class Couple {
  var pair: (Int, Node?) = (1, nil)
}

class Holder<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}

final class Derived: Holder<State> {}

final class Lists {
  var cells: [Cell<UInt8>] = []
  var byNumber: [Int: Cell<String>] = [:]
}

nonisolated(unsafe) var kept: [AnyObject] = []
nonisolated(unsafe) var latest: AnyObject?

/// The optimizer leaves no owner out, as a variable has held it.
func node(_ owner: AnyObject) -> Node {
  let node = Node()
  node.owner = owner
  latest = owner
  return node
}

@inline(never) func keep() {
  // A page in the first, four in the second, one in each of the others.
  kept = [Guarded(), Owner(), Holder(State()), Derived(State())]
  let lists = Lists()
  lists.cells = [Cell(value: 1), Cell(value: 2)]
  lists.byNumber = [1: Cell(value: "a text")]
  kept.append(lists)
}

@inline(never) func leakByMutex() {
  let guarded = Guarded()
  guarded.state.withLock { $0.node = node(guarded) }
}

@inline(never) func leakByProperties() {
  let (first, second, third, fourth) = (Owner(), Owner(), Owner(), Couple())
  first.cell.node = node(first)
  second.small.node = node(second)
  third.nested.value.node = node(third)
  fourth.pair.1 = node(fourth)
}

@inline(never) func leakByArguments() {
  let holder = Holder(State())
  holder.value.node = node(holder)
  let derived = Derived(State())
  derived.value.node = node(derived)
}

@inline(never) func leakByElements() {
  let (first, second) = (Lists(), Lists())
  first.cells = [Cell(value: 1), Cell(value: 2)]
  first.cells[1].node = node(first)
  second.byNumber = [1: Cell(value: "a text")]
  second.byNumber[1]?.node = node(second)
}

@inline(never) func clearStack(_ depth: Int) -> Int {
  depth == 0 ? 0 : 1 + clearStack(depth - 1)
}

keep()
leakByMutex()
leakByProperties()
leakByArguments()
leakByElements()
latest = nil
print(clearStack(50), kept.count)
