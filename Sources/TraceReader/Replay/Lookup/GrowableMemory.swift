#if canImport(Glibc)
  import Glibc
#endif

/// Memory of lists that may well become very long.
///
/// An array that grows is there twice for a moment. Large memory of this is moved by the system
/// without being copied, and what has not been used yet takes no memory.
package enum GrowableMemory {
  /// Allocates memory, or changes how much it is; to be freed by `free`.
  ///
  /// - Parameters:
  ///   - memory: What is there; nil for none.
  ///   - capacity: For how many elements there is to be room, one at least.
  ///   - name: What they are, for the message with which the process ends if there is no memory.
  /// - Returns: Where the elements are from now on.
  package static func resized<Element: BitwiseCopyable>(
    _ memory: UnsafeMutablePointer<Element>?, _ capacity: Int, of name: StaticString
  ) -> UnsafeMutablePointer<Element> {
    guard let memory = realloc(memory, capacity * MemoryLayout<Element>.stride) else {
      fatalError("no memory for \(capacity) \(name)")
    }
    return memory.bindMemory(to: Element.self, capacity: capacity)
  }
}
