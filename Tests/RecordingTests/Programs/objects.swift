// Swift objects and a buffer of a marked size.
final class Node {
  var next: Node?
  init(next: Node?) { self.next = next }
}

var list: Node?
for _ in 0..<1000 { list = Node(next: list) }
let buffer = UnsafeMutableRawPointer.allocate(byteCount: 32001, alignment: 16)
buffer.deallocate()
print(list == nil ? "empty" : "done")
