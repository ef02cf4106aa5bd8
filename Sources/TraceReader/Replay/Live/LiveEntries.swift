import CProcessor

#if canImport(Glibc)
  import Glibc
#endif

/// Entries of live blocks that a ``LiveTable`` has handed over, or that were copied.
///
/// Not an array: what was the table becomes this without there ever being two of them.
final class LiveEntries: @unchecked Sendable {
  /// Changed only by who has the sole reference.
  private(set) var entries: UnsafeMutableBufferPointer<LiveEntry>
  /// Where the entries are, also when there are none.
  let memory: UnsafeMutablePointer<LiveEntry>

  /// - Parameters:
  ///   - memory: From ``LiveEntries/resized(_:_:)``, which is freed by this.
  ///   - count: How many entries are there.
  init(takingOver memory: UnsafeMutablePointer<LiveEntry>, count: Int) {
    self.memory = memory
    entries = UnsafeMutableBufferPointer(start: memory, count: count)
  }

  deinit {
    free(memory)
  }

  /// Lets the last entries go; their memory stays.
  func shrink(to count: Int) {
    entries = UnsafeMutableBufferPointer(rebasing: entries[..<min(count, entries.count)])
  }

  /// Collects entries one by one.
  struct Builder: ~Copyable {
    private let memory: UnsafeMutablePointer<LiveEntry>
    private let capacity: Int
    private var count = 0

    /// - Parameter capacity: The greatest number of entries; what is not used takes no memory.
    init(capacity: Int) {
      self.capacity = capacity
      memory = LiveEntries.resized(nil, capacity)
    }

    mutating func append(_ entry: LiveEntry) {
      guard count < capacity else { return }
      (memory + count).initialize(to: entry)
      count += 1
    }

    consuming func finished() -> LiveEntries {
      LiveEntries(takingOver: LiveEntries.resized(memory, count), count: count)
    }
  }

  /// Allocates memory for entries, or changes how much it is, in large pages where there are any.
  static func resized(
    _ entries: UnsafeMutablePointer<LiveEntry>?, _ capacity: Int
  ) -> UnsafeMutablePointer<LiveEntry> {
    let capacity = max(capacity, 1)
    let memory = GrowableMemory.resized(entries, capacity, of: "live blocks")
    cprocessor_use_large_pages(memory, capacity * MemoryLayout<LiveEntry>.stride)
    return memory
  }
}
