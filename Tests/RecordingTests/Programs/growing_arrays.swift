// Arrays to which threads are adding elements when the program ends, in each way that the standard library has. They do
// not count yet all that they have. Compiled with -module-name app.
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

final class Added {
  let number: Int
  init(_ number: Int) { self.number = number }
}

let waiting = DispatchSemaphore(value: 0)
let never = DispatchSemaphore(value: 0)

/// Stays in the middle of what it is asked for.
@inline(never) func make(_ number: Int) -> Added {
  if number == 50 {
    waiting.signal()
    never.wait()
  }
  return Added(number)
}

struct Source: Sequence, IteratorProtocol {
  var number = 0
  mutating func next() -> Added? {
    number += 1
    return make(number)
  }
}

nonisolated(unsafe) var appended: [Added] = []
nonisolated(unsafe) var joined: ContiguousArray<Added> = []
nonisolated(unsafe) var mapped: [Added] = []
nonisolated(unsafe) var made: [Added] = []
nonisolated(unsafe) var initialized: [Added] = []

func fill() -> [Added] {
  Array(unsafeUninitializedCapacity: 100) { buffer, count in
    for number in 1...100 { buffer.initializeElement(at: number - 1, to: make(number)) }
    count = 100
  }
}

let ways: [@Sendable () -> Void] = [
  { appended.append(contentsOf: Source()) },
  { joined += Source() },
  { mapped = (1...100).map(make) },
  { made = Array(Source()) },
  { initialized = fill() },
]

for way in ways { DispatchQueue(label: "adding").async(execute: way) }
for _ in ways { waiting.wait() }
print("done")
exit(0)
