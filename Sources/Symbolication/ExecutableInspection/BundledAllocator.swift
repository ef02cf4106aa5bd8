/// An allocator that is linked into an executable.
public struct BundledAllocator: Sendable, Hashable {
  /// Its name: `jemalloc`, `mimalloc`, …, `own malloc` where it is not a known one.
  public let name: String

  /// A symbol that gives it away.
  public let symbol: String

  /// Whether it defines `malloc` or `operator new` itself, so that no library function is called.
  ///
  /// Else it is called by names of its own, and what goes through `malloc` is still recorded.
  public let replacesMalloc: Bool

  /// Makes a description.
  public init(name: String, symbol: String, replacesMalloc: Bool) {
    self.name = name
    self.symbol = symbol
    self.replacesMalloc = replacesMalloc
  }
}
