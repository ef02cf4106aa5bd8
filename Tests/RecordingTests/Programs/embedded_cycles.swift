// Objects of Embedded Swift that keep each other, in known numbers, and one that somebody has forgotten.
final class Node {
  var next: Node?
  var others: [Node] = []
  var number = 1
}
final class Button {
  var action: (() -> Int)?
  var number = 2
}
final class Forgotten {
  var owned: Node?
}

@inline(never) func leakRing() -> Int {
  let (first, second) = (Node(), Node())
  first.next = second
  second.next = first
  return first.number + second.number
}
@inline(never) func leakItself() -> Int {
  let node = Node()
  node.next = node
  return node.number
}
@inline(never) func leakByArray() -> Int {
  let node = Node()
  node.others = [node, node]
  return node.others.count
}
@inline(never) func leakByClosure() -> Int {
  let button = Button()
  button.action = { button.number }
  return button.action?() ?? 0
}
@inline(never) func leakForgotten() -> Int {
  let forgotten = Forgotten()
  forgotten.owned = Node()
  _ = Unmanaged.passRetained(forgotten)
  return forgotten.owned?.number ?? 0
}
@inline(never) func leaveNothing(_ count: Int) -> Int {
  var numbers: [Int] = []
  for number in 0..<count { numbers.append(number) }
  return numbers.count
}

print(leakRing() + leakItself() + leakByArray() + leakByClosure() + leakForgotten())
print(leaveNothing(100))
