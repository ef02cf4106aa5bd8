// Objects of known types in known numbers, all alive until the end.
class Leaf { var number = 1 }
class Outer {
  class Inner { var number = 2.0 }
  struct Value<T> { var content: T }
}
class Pair<First, Second> {
  var first: First
  var second: Second
  init(_ first: First, _ second: Second) { (self.first, self.second) = (first, second) }
}
private class Hidden { var number = 3 }
final class Node<T> {
  var value: T
  init(_ value: T) { self.value = value }
}
class Ranked<Member: AnyObject> { weak var next: Member? }
/// Its metadata stands at the beginning of smaller blocks of the runtime, too.
class Player: Ranked<Player> { var (score, best) = (1, 2) }
enum Tree {
  case leaf(Int)
  indirect case node(Tree, Tree)
}
struct Failure: Error { var code: Int, text: String }

var kept: [AnyObject] = []
var closures: [() -> Int] = []
var trees: [Tree] = []
var lists: [[Int]] = []
var words: [[String: [Int]]] = []
var errors: [any Error] = []
var values: [Any] = []

@inline(never) func node<T>(_ value: T) -> Node<T> { Node(value) }
@inline(never) func counter(_ leaf: Leaf) -> () -> Int {
  var count = 0
  return {
    count += leaf.number
    return count
  }
}
/// The runtime makes the box, as it does for types that the compiler does not know.
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func boxed<T>(_ value: T) -> Any { value }
@inline(never) func fail(_ code: Int) throws { throw Failure(code: code, text: "x") }

@inline(never) func make(_ index: Int) {
  kept.append(Leaf())
  kept.append(Outer.Inner())
  kept.append(Pair(index, "text"))
  kept.append(Pair([1.0], Outer.Value(content: index)))
  kept.append(Hidden())
  kept.append(node((index, "a")))
  kept.append(node(Optional(index)))
  kept.append(node(Leaf.self))
  kept.append(node(kept[0]))
  kept.append(Player())
  closures.append(counter(Leaf()))
  trees.append(.node(.leaf(index), .leaf(index)))
  lists.append(Array(repeating: index, count: 7))
  words.append(["key": [index]])
  values.append(boxed((index, "text", 2.5, index)))
  do { try fail(index) } catch { errors.append(error) }
}

// Larger than what malloc gives out without pages of their own.
var numbers = [UInt16](repeating: 1, count: 1 << 20)
var marks = Set<Int>(minimumCapacity: 1 << 16)

for index in 0..<20 { make(index) }
marks.insert(1)
print(kept.count, closures.map { $0() }.reduce(0, +), trees.count, lists.count, words.count)
