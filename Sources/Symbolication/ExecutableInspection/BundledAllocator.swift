/// An allocator that is linked into an executable.
public struct BundledAllocator: Sendable, Hashable {
  /// Its name: `jemalloc`, `mimalloc`, …, `own malloc` where it is not a known one.
  public let name: String

  /// A symbol that gives it away; empty where the executable is stripped, and a text in it does.
  public let symbol: String

  /// Whether it defines `malloc` or `operator new` itself, so that no library function is called.
  ///
  /// Else it is called by names of its own, and what goes through `malloc` is still recorded.
  public let replacesMalloc: Bool

  /// Whether what it keeps are the objects of a language, which its runtime frees.
  var keepsObjects: Bool { ["V8", "Go", "pymalloc"].contains(name) }

  /// Whether it is Python's, which need not use it.
  public var isPython: Bool { name == "pymalloc" }

  /// Whether its functions are known to the recorder, which can lead calls of them to itself.
  public var canBeRecorded: Bool {
    // Its functions are found by their symbols.
    guard !symbol.isEmpty, !keepsObjects else { return false }
    return switch name {
    case "jemalloc", "mimalloc", "tcmalloc": true
    default: replacesMalloc && symbol != "_Znwm"
    }
  }

  /// Makes a description.
  public init(name: String, symbol: String, replacesMalloc: Bool) {
    self.name = name
    self.symbol = symbol
    self.replacesMalloc = replacesMalloc
  }
}
