// Deques of swift-collections and of streams, of which slots that are not in use lead to objects that have leaked or
// are freed. Compiled with -module-name app.

struct _DequeSlot { var position: Int }

struct _DequeBufferHeader {
  var capacity: Int
  var count: Int
  var startSlot: _DequeSlot
}

/// As in swift-collections; what is taken out stays in its slot.
final class _DequeBuffer<Element>: ManagedBuffer<_DequeBufferHeader, Element> {
  static func make(capacity: Int) -> _DequeBuffer {
    let buffer = create(minimumCapacity: capacity) { _ in
      _DequeBufferHeader(capacity: capacity, count: 0, startSlot: _DequeSlot(position: 0))
    }
    return unsafeDowncast(buffer, to: _DequeBuffer.self)
  }

  func append(_ element: Element) {
    withUnsafeMutablePointers { header, elements in
      let slot =
        (header.pointee.startSlot.position + header.pointee.count) % header.pointee.capacity
      (elements + slot).initialize(to: element)
      header.pointee.count += 1
    }
  }

  func popFirst() -> Element {
    withUnsafeMutablePointers { header, elements in
      let slot = header.pointee.startSlot.position
      header.pointee.startSlot.position = (slot + 1) % header.pointee.capacity
      header.pointee.count -= 1
      return (elements + slot).move()
    }
  }
}

final class Leaked { var number = 1 }
final class Freed { var number = 1 }
final class Cyclic { var all: AnyObject? }
struct Entry {
  var number: Int
  var object: AnyObject
}

nonisolated(unsafe) var leaked: _DequeBuffer<Leaked>?
nonisolated(unsafe) var freed: _DequeBuffer<Entry>?
nonisolated(unsafe) var continuation: AsyncStream<Freed>.Continuation?

/// Nothing holds them any more; what they have is one reference too many.
@inline(never) func leak() {
  let deque = _DequeBuffer<Leaked>.make(capacity: 4)
  for _ in 0..<4 { deque.append(Leaked()) }
  for _ in 0..<3 { _ = Unmanaged.passRetained(deque.popFirst()) }
  for _ in 0..<2 { deque.append(Leaked()) }
  leaked = deque
}

@inline(never) func free() {
  let deque = _DequeBuffer<Entry>.make(capacity: 6)
  for number in 0..<6 { deque.append(Entry(number: number, object: Freed())) }
  for _ in 0..<4 { _ = deque.popFirst() }
  freed = deque
}

/// The first of three elements, in the second slot.
@inline(never) func close() {
  let deque = _DequeBuffer<Entry>.make(capacity: 4)
  for _ in 0..<2 { deque.append(Entry(number: 0, object: Cyclic())) }
  _ = deque.popFirst()
  _ = deque.popFirst()
  for number in 0..<3 {
    let cyclic = Cyclic()
    if number == 1 { cyclic.all = deque }
    deque.append(Entry(number: number, object: cyclic))
  }
}

@inline(never) func clear(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { memory in
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    return depth == 0 ? 0 : clear(depth - 1) + Int(memory[7])
  }
}

@inline(never) func stream() async -> Int {
  let stream = AsyncStream<Freed> { continuation = $0 }
  for _ in 0..<5 { continuation?.yield(Freed()) }
  var (iterator, sum) = (stream.makeAsyncIterator(), 0)
  for _ in 0..<3 { sum += await iterator.next()?.number ?? 0 }
  return sum
}

leak()
free()
close()
let sum = await stream()
print(clear(20), sum)
