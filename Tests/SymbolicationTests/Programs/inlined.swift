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

print(make().0.number)
