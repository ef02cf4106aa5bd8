// Objects in existential containers, behind which what was there before is still to be seen.

class Lost { var me: Lost? }
class Kept { var number = 1 }
final class Derived: Kept {}
protocol Value {}
protocol Reference: AnyObject {}
extension Kept: Value, Reference {}

struct Three<Object: AnyObject>: Value {
  var a: Object
  var b: Object
  var c: Object
}

/// Too large for a container: it gets a box.
struct Four: Value {
  var a = Kept()
  var b = Kept()
  var c = Kept()
  var d = Derived()
}

final class Holder {
  var any: Any?
  var value: any Value = Kept()
  var optional: (any Value)?
  var both: any Value & CustomStringConvertible = "text"
  var reference: any Reference = Kept()
  var first: Kept?
  var second: Kept?
  var type: Kept.Type = Kept.self
}

extension String: Value {}
extension Bool: Value {}
extension Int: Value {}
extension Kept: CustomStringConvertible {
  var description: String { "Kept" }
}
extension Three: CustomStringConvertible {
  var description: String { "Three" }
}
extension Four: CustomStringConvertible {
  var description: String { "Four" }
}

func lost() -> Three<Lost> {
  let objects = (0..<3).map { _ in Lost() }
  for object in objects { object.me = object }
  return Three(a: objects[0], b: objects[1], c: objects[2])
}

func kept() -> Three<Kept> { Three(a: Kept(), b: Kept(), c: Derived()) }

@inline(never) func fill(_ holder: Holder) {
  holder.any = lost()
  holder.value = lost()
  holder.optional = lost()
  holder.both = lost()
}

@inline(never) func replace(_ holder: Holder) {
  holder.any = Kept()
  holder.value = Derived()
  holder.optional = Derived() as Kept
  holder.both = Kept()
}

/// The runtime makes the boxes, as types are known to it alone.
@_optimize(none) @inline(never)
func box<Boxed: Value & CustomStringConvertible>(_ value: Boxed, _ holder: Holder) {
  holder.any = value
  holder.value = value
  holder.optional = value
  holder.both = value
}

/// In an array of which the elements had other values before.
@inline(never) func list() -> [Any] {
  var list: [Any] = [lost(), lost()]
  list[0] = "text"
  list[1] = 4
  return list
}

/// Values that take less room than what was there before.
@inline(never) func shrink(_ holder: Holder) {
  holder.any = "text"
  holder.value = true
  holder.optional = 4
  holder.both = "text"
}

@inline(never) func keep(_ holder: Holder) {
  holder.any = kept()
  holder.value = kept()
  holder.optional = kept()
  holder.both = kept()
  holder.reference = Kept()
  holder.first = Kept()
  holder.second = Kept()
}

nonisolated(unsafe) var global: Any = 0
nonisolated(unsafe) var globalValue: (any Value)?

/// In variables, of which the second has an object now.
@inline(never) func fillVariables() {
  global = lost()
  globalValue = lost()
}

@inline(never) func replaceInVariables() {
  global = 4
  globalValue = Kept()
}

fillVariables()
replaceInVariables()
let replaced = Holder()
fill(replaced)
replace(replaced)
let boxed = Holder()
fill(boxed)
box(Four(), boxed)
let shrunk = Holder()
fill(shrunk)
shrink(shrunk)
let listed: [Any] = list()
let keeping = Holder()
keep(keeping)
