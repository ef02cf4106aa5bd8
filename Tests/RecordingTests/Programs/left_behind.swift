// What the runtime and libdispatch keep of objects that are gone, and other objects in their place.
// Compiled with -module-name left.
import Dispatch

#if canImport(Glibc)
  import Glibc
#endif

final class Seen { var number = 1 }
final class Lost { var number = 2 }

nonisolated(unsafe) var watchers: [Watcher] = []
struct Watcher { weak var seen: Seen? }

@inline(never) func address(_ object: AnyObject) -> UInt {
  UInt(bitPattern: ObjectIdentifier(object))
}

/// An object that a weak reference was to is freed; one that is leaked gets its memory.
@inline(never) func leakInPlace() -> Bool {
  var place: UInt = 0
  do {
    let seen = Seen()
    watchers.append(Watcher(seen: seen))
    place = address(seen)
  }
  let lost = Lost()
  _ = Unmanaged.passRetained(lost)
  return address(lost) == place
}

watchers.reserveCapacity(4)
var attempts = 0
while attempts < 4, !leakInPlace() { attempts += 1 }
print(attempts < 4 ? "in place" : "elsewhere", attempts + 1)

// Loads libdispatch and its thread-local variables.
let queue = DispatchQueue(label: "work")
let done = DispatchSemaphore(value: 0)
queue.async { done.signal() }
done.wait()
