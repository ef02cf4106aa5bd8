// An array whose last elements lie in what the allocator gave it beyond its size class: too little of a freed
// block was left for another one.
#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

final class Node {
  var number = 1
}

nonisolated(unsafe) var nodes: [Node] = []

@inline(never) func fill() {
  let room = (0..<16).map { _ in malloc(2056) }
  for number in stride(from: 0, to: 16, by: 2) { free(room[number]) }
  nodes.reserveCapacity(251)
  for _ in 0..<nodes.capacity { nodes.append(Node()) }
  for number in stride(from: 1, to: 16, by: 2) { free(room[number]) }
}

fill()
print(nodes.count)
