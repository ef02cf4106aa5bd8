// Uses an object after its last reference is gone.
final class Node {
  var name: String
  init(_ name: String) { self.name = name }
}

@inline(never) func makeNode() -> Unmanaged<Node> {
  let node = Unmanaged.passRetained(Node("a name that is too long for its word"))
  node.release()
  return node
}

@inline(never) func useNode(_ node: Unmanaged<Node>) -> Int {
  node.takeUnretainedValue().name.count
}

print(useNode(makeNode()))
