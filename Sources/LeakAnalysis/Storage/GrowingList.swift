#if canImport(Glibc)
  import Glibc
#endif

/// A list of numbers that may well become very long.
///
/// An array that grows is there twice for a moment. Large memory of this is moved by the system
/// without being copied, and what has not been used yet takes no memory.
struct GrowingList<Element: BitwiseCopyable>: ~Copyable {
  private var memory: UnsafeMutablePointer<Element>
  private var capacity = 16
  private(set) var count = 0

  init() {
    memory = Self.resized(nil, capacity)
  }

  deinit {
    free(memory)
  }

  private static func resized(
    _ memory: UnsafeMutablePointer<Element>?, _ capacity: Int
  ) -> UnsafeMutablePointer<Element> {
    guard let memory = realloc(memory, capacity * MemoryLayout<Element>.stride) else {
      fatalError("no memory for \(capacity) entries")
    }
    return memory.bindMemory(to: Element.self, capacity: capacity)
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
    memory = Self.resized(memory, capacity)
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
