// Objects that are retained and released alike, of which only one is recorded.
import Glibc

final class Early {
  var number = 1
}
final class Late {
  var number = (2, 3)
}

/// As `memtrace.h` has it: nothing where nothing is recorded.
func call(_ name: String) {
  guard let address = dlsym(nil, name) else { return }
  unsafeBitCast(address, to: (@convention(c) () -> Void).self)()
}

@inline(never) func use(_ object: AnyObject, _ kept: inout [AnyObject]) {
  kept.append(object)
  kept.removeLast()
}

var kept: [AnyObject] = []
kept.reserveCapacity(8)
// Neighbours of the one that is.
let early = (0..<64).map { _ in Early() }
call("memtrace_resume")
let late = Late()
call("memtrace_pause")
for _ in 0..<100 {
  for object in early { use(object, &kept) }
  use(late, &kept)
}
print(early.count + late.number.0)
