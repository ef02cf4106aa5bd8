// Leaked cycles through stored properties that objects inherit from classes of which there is no
// object, and through such as only the runtime places.
import Observation

class Root {
  var first: AnyObject?
}

class Middle: Root {
  unowned(unsafe) var owner: Owner
  init(_ owner: Owner) { self.owner = owner }
}

final class Last: Middle {
  weak var seen: Last?
}

final class Owner {
  var owned: AnyObject?
}

class Generic<Value>: Root {
  var value: Value
  init(_ value: Value) { self.value = value }
}

final class Derived: Generic<[Int]> {
  lazy var later: [String] = [String(repeating: "text", count: 10)]
}

/// The registrar is a structure of a library that may change its size.
@Observable final class Model {
  var other: Model?
}

final class Pack<each Value> {
  var values: (repeat each Value)
  var other: AnyObject?
  init(_ values: repeat each Value) { self.values = (repeat each values) }
}

final class Pair<each First, Second> {
  var values: (repeat each First, Second)
  var other: AnyObject?
  init(_ first: repeat each First, last second: Second) { values = (repeat each first, second) }
}

func empty<each Value>(_ values: repeat each Value) -> Pack<repeat each Value> {
  Pack(repeat each values)
}

struct Links {
  var isOpen = true
  unowned(unsafe) var owner: Owner
  var next: Linked?
}

/// A structure holds what it refers to as the object does that it is in.
final class Linked {
  var links: Links
  init(_ owner: Owner) { links = Links(owner: owner) }
}

@inline(never) func leak() {
  let last = Last(held)
  (last.first, last.seen) = (last, last)
  let derived = Derived([1, 2, 3])
  derived.first = derived
  _ = derived.later
  let model = Model()
  model.other = model
  let (pack, none, pair) = (Pack(1, "text", 2.5), empty(), Pair(1 as Int8, "text", last: 2.5))
  (pack.other, none.other, pair.other) = (pack, none, pair)
  let linked = Linked(held)
  linked.links.next = linked
}

/// A reference that another object inherits does not hold it.
@inline(never) func leakOwner() {
  let owner = Owner()
  owner.owned = owner
  holders.append(Last(owner))
}

/// Nor does one in a structure.
@inline(never) func leakLinkedOwner() {
  let owner = Owner()
  owner.owned = owner
  linked.append(Linked(owner))
}

/// What a closure captures as `unowned` it does not hold; in generic code it holds a type as well.
@inline(never) func leakScreens<Value>(_ value: Value) {
  let screens = [Screen(), Screen()]
  for screen in screens { screen.other = screen }
  handlers.append { [unowned screen = screens[0]] in screen.number += MemoryLayout<Value>.size }
  handlers.append { [unowned(unsafe) screen = screens[1], held] in
    if held === screen { screen.number += 1 }
  }
}

final class Screen {
  var (other, number) = (nil as Screen?, 0)
}

nonisolated(unsafe) var held = Owner()
nonisolated(unsafe) var holders: [Last] = []
nonisolated(unsafe) var linked: [Linked] = []
nonisolated(unsafe) var handlers: [() -> Void] = []
leak()
leakOwner()
leakLinkedOwner()
leakScreens(1)
