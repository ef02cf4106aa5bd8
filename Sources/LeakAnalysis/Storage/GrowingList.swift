import TraceReader

#if canImport(Glibc)
  import Glibc
#endif

/// A list of numbers in memory that grows without being there twice.
struct GrowingList<Element: BitwiseCopyable>: ~Copyable {
  private var memory: UnsafeMutablePointer<Element>
  private var capacity = 16
  private(set) var count = 0

  init() {
    memory = GrowableMemory.resized(nil, capacity, of: "entries")
  }

  deinit {
    free(memory)
  }

  @inline(__always)
  mutating func append(_ element: Element) {
    if count == capacity { grow() }
    (memory + count).initialize(to: element)
    count &+= 1
  }

  @inline(never)
  private mutating func grow() {
    capacity *= 2
    memory = GrowableMemory.resized(memory, capacity, of: "entries")
  }

  @inline(__always)
  mutating func popLast() -> Element? {
    guard count > 0 else { return nil }
    count &-= 1
    return memory[count]
  }

  subscript(position: Int) -> Element {
    @inline(__always) get {
      precondition(position >= 0 && position < count, "no such entry")
      return memory[position]
    }
  }
}
