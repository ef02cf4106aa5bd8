// Frees lists of objects, each of which owns another. The storage of the array tells which.
final class Leaf {
  var words = [Int](repeating: 1, count: 502)
}

final class Node {
  var next: Node?
  var leaf = Leaf()

  init(_ next: Node?) { self.next = next }
}

@inline(never) func make(_ count: Int) -> Node? {
  var head: Node?
  for _ in 0..<count { head = Node(head) }
  return head
}

@inline(never) func run(_ count: Int) -> Int {
  make(count).map { $0.leaf.words.count } ?? 0
}

print(run(3))
