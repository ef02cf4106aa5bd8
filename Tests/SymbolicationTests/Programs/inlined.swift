import Synchronization

final class Node {
  let number: Int
  init(_ number: Int) { self.number = number }
}

final class Counter: Sendable {
  let value = Atomic<Int>(0)
}

@inline(never) func make() -> (Node, Counter) {
  let node = Node(1)
  return (node, Counter())
}

final class List {
  var nodes: [Node] = []
}

@inline(never) func fill(_ list: List) {
  for number in 0..<3 { list.nodes.append(Node(number)) }
}

let list = List()
fill(list)
print(make().0.number, list.nodes.count)
