// Objects of Swift whose types have a class of C++ as an argument, all alive until the end.
final class Node<T> {
  var value: T
  init(_ value: T) { self.value = value }
}

var nodes: [Node<Texture>] = []
var lists: [[Texture]] = []
for _ in 0..<20 {
  nodes.append(Node(Texture.make()))
  lists.append([Texture.make()])
}
print(nodes.count, lists.count)
