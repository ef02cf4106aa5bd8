// Uses the module Memtrace; says what it finds.
import Memtrace

final class Node {
  var next: Node?
}

var kept: [Node] = []

print(Memtrace.isLoaded)
for round in 0..<3 {
  Memtrace.mark("round \(round)")
  for _ in 0..<10 { kept.append(Node()) }
}
if CommandLine.arguments.last == "paused" {
  Memtrace.resume()
  for _ in 0..<7 { kept.append(Node()) }
  Memtrace.pause()
  kept.append(Node())
}
let arena = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 16)
Memtrace.allocated(arena + 64, size: 48)
Memtrace.allocated(arena + 128, size: 80)
Memtrace.freed(arena + 64)
Memtrace.ignore(arena + 128)
Memtrace.mark(String(repeating: "long ", count: 1000))
print(Memtrace.snapshot("done"))
