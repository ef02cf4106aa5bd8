#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

// Properties smaller than a word, and tags of enums, where what is left of other blocks shines
// through the bytes behind them that nobody writes.
final class Leaked {
  var number = 1
  var other = 2
}
final class Optionals {
  var index: Int?
  var size: UInt? = 2
  var share: Double?
}
final class Flags {
  var isOpen = true
  var count = 1
  var share: Float = 0.5
  var next: Leaked?
}
enum State { case idle, busy }
final class Sized {
  var kind: UInt8 = 1
  var next: Leaked?
  var state = State.busy
  var count = 1
  var identifier: Int32? = 2
  var total = 1
  var limit: Int64?
  var previous: State?
}
struct Toggle { var isOn = true }
struct Identifier { var number = 3 }
struct Position { var (offset, isKnown) = (1, true) }
enum Step { case none, moved(Int) }
final class Parts {
  var toggle = Toggle()
  var next: Leaked?
  var step = Step.moved(1)
  var identifier: Identifier? = Identifier()
  var position = Position()
  var previous: Leaked?
}

final class Places {
  var found: Range<String.Index>?
  var start: String.Index?
  var previous: Leaked?
}

enum Event { case text(String), pair(Leaked?, Int) }

nonisolated(unsafe) var kept: [AnyObject] = []
nonisolated(unsafe) var events: [Event] = []
nonisolated(unsafe) var handlers: [() -> Int] = []

/// Leaks 40 objects, one of which begins at a multiple of 256: its address with a tag as the lowest
/// byte still leads to it.
@inline(never) func leakObjects() -> UInt {
  var found: UInt?
  for _ in 0..<40 {
    let object = UInt(bitPattern: Unmanaged.passRetained(Leaked()).toOpaque())
    if object % 256 == 0 { found = ~object }
  }
  guard let found else { fatalError("no object begins at a multiple of 256") }
  return found
}

/// Leaves pointers to an object in memory that the next objects of the size get.
@_optimize(none) func fill(_ size: Int, with hidden: UInt) {
  guard let block = malloc(size)?.assumingMemoryBound(to: UInt.self) else { return }
  for word in 0..<size / 8 { block[word] = ~hidden }
  free(block)
}

@inline(never) func keepOptionals(_ hidden: UInt) {
  fill(MemoryLayout<Int>.size * 8, with: hidden)
  kept.append(Optionals())
}

@inline(never) func keepFlags(_ hidden: UInt) {
  fill(48, with: hidden)
  let flags = Flags()
  flags.next = Leaked()
  kept.append(flags)
}

@inline(never) func keepSized(_ hidden: UInt) {
  fill(80, with: hidden)
  let sized = Sized()
  sized.next = Leaked()
  kept.append(sized)
}

@inline(never) func keepParts(_ hidden: UInt) {
  fill(88, with: hidden)
  let parts = Parts()
  parts.next = Leaked()
  kept.append(parts)
}

@inline(never) func keepPlaces(_ hidden: UInt) {
  fill(64, with: hidden)
  kept.append(Places())
}

@inline(never) func keepHandler(_ isOpen: Bool, _ hidden: UInt) {
  let held = Leaked()
  fill(32, with: hidden)
  handlers.append { isOpen ? held.number : 0 }
}

@inline(never) func keepEvents(_ hidden: UInt) {
  // The runtime makes the type of the array here, and not between what follows.
  events = [.text("not"), .text("yet")]
  let held = Leaked()
  fill(80, with: hidden)
  events = [.pair(held, 1), .text("done")]
}

keepOptionals(leakObjects())
keepFlags(leakObjects())
keepSized(leakObjects())
keepParts(leakObjects())
keepPlaces(leakObjects())
keepHandler(kept.count > 1, leakObjects())
keepEvents(leakObjects())
