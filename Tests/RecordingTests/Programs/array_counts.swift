// What stands behind the elements of arrays that are in use: taken out, and forgotten or still wanted; and elements
// that are added when the program ends. Compiled with -module-name app.
#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

final class Taken {
  var number = 1
}
final class Leaked {
  var number = 1
}
final class Added {
  var number = 1
}
struct Entry {
  var number: Int
  var object: Leaked
}

nonisolated(unsafe) var objects: [Leaked] = []
nonisolated(unsafe) var cleared: [Leaked] = []
nonisolated(unsafe) var entries: [Entry] = []
nonisolated(unsafe) var buffers: [UnsafeMutablePointer<Int>] = []
nonisolated(unsafe) var taken: [Taken] = []
nonisolated(unsafe) var owner: Taken?
nonisolated(unsafe) var added: [Added] = []

/// Each has a reference that is never given up.
@inline(never) func leak() {
  for _ in 0..<3 {
    objects.append(Leaked())
    cleared.append(Leaked())
    entries.append(Entry(number: 1, object: Leaked()))
    _ = Unmanaged.passRetained(objects[0])
  }
  for object in cleared { _ = Unmanaged.passRetained(object) }
  for entry in entries { _ = Unmanaged.passRetained(entry.object) }
  objects.removeLast(2)
  _ = Unmanaged.passRetained(objects.removeLast())
  cleared.removeAll(keepingCapacity: true)
  _ = entries.popLast()
}

@inline(never) func makeBuffers() {
  for count in 101..<104 {
    let buffer = UnsafeMutablePointer<Int>.allocate(capacity: count)
    buffer.initialize(repeating: 0, count: count)
    buffers.append(buffer)
  }
}

/// The second is freed, and the last forgotten.
@inline(never) func dropBuffers() {
  buffers[1].deallocate()
  buffers.removeLast()
}

@inline(never) func take() {
  for _ in 0..<3 { taken.append(Taken()) }
  owner = taken.removeLast()
}

/// Overwrites what the others have left on the stack.
@inline(never) func clear(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { memory in
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    return depth == 0 ? 0 : clear(depth - 1) + Int(memory[7])
  }
}

struct Endless: Sequence, IteratorProtocol {
  var count = 0
  mutating func next() -> Added? {
    count += 1
    if count == 6 {
      print(clear(20))
      exit(0)
    }
    return Added()
  }
}

leak()
makeBuffers()
dropBuffers()
take()
added.reserveCapacity(20)
added.append(contentsOf: Endless())
