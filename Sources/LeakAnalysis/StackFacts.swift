import TraceReader

/// What is known of blocks from the stacks that allocated them.
///
/// Each is asked only for blocks that look as if, those of stacks once for each stack.
public struct StackFacts {
  /// Whether a stack is one that allocates side tables of Swift objects.
  public let isSideTable: (StackID) -> Bool
  /// Whether a stack is one that allocates blocks in which never are pointers to others: buffers of streams, tables of code.
  public let holdsNoPointers: (StackID) -> Bool
  /// Whether a stack is one that allocates values which count their references, as those of `Rc` in Rust.
  public let countsReferences: (StackID) -> Bool
  /// Whether a stack is one that allocates tables of Rust's `HashMap` and `HashSet`.
  public let isHashTable: (StackID) -> Bool
  /// Whether a stack is one by which the Swift runtime keeps what it knows of types.
  public let isSwiftMetadata: (StackID) -> Bool
  /// Whether a stack is one by which the Swift runtime may allocate something else for itself.
  public let isUnnamedOfSwiftRuntime: (StackID) -> Bool
  /// Whether a stack is one by which libdispatch allocates.
  public let isOfDispatch: (StackID) -> Bool
  /// Whether a stack is one by which GObject allocates.
  public let isOfGObject: (StackID) -> Bool
  /// Whether a stack is one by which a container allocates room for its elements.
  public let isContainer: (StackID) -> Bool
  /// Whether a stack is one by which a `std::vector` or `std::deque` allocates room for elements that may hold pointers.
  public let isElements: (StackID) -> Bool
  /// The calls by which a stack allocates, as addresses, the innermost first; none where they are not known.
  ///
  /// More than the innermost tell blocks apart that come from one call by different ways, as through a `malloc` of the program.
  public let calls: (StackID) -> [UInt64]
  /// Whether what lies at an offset of a block does not keep what it points to, as `Weak` in Rust.
  public let isWeak: (_ offset: UInt64, _ block: Int, HeapImage) -> Bool
  /// Whether what lies at an offset of a block is counted by what it points to, as `Rc` in Rust.
  public let isCounted: (_ offset: UInt64, _ block: Int, HeapImage) -> Bool
  /// Whether nothing can lie at an offset of a block that would hold what it points to: a gap between its members.
  public let isUnused: (_ offset: UInt64, _ block: Int, HeapImage) -> Bool

  /// Without arguments nothing is known.
  public init(
    isSideTable: @escaping (StackID) -> Bool = { _ in false },
    holdsNoPointers: @escaping (StackID) -> Bool = { _ in false },
    countsReferences: @escaping (StackID) -> Bool = { _ in false },
    isHashTable: @escaping (StackID) -> Bool = { _ in false },
    isSwiftMetadata: @escaping (StackID) -> Bool = { _ in false },
    isUnnamedOfSwiftRuntime: @escaping (StackID) -> Bool = { _ in false },
    isOfDispatch: @escaping (StackID) -> Bool = { _ in false },
    isOfGObject: @escaping (StackID) -> Bool = { _ in false },
    isContainer: @escaping (StackID) -> Bool = { _ in false },
    isElements: @escaping (StackID) -> Bool = { _ in false },
    calls: @escaping (StackID) -> [UInt64] = { _ in [] },
    isWeak: @escaping (UInt64, Int, HeapImage) -> Bool = { _, _, _ in false },
    isCounted: @escaping (UInt64, Int, HeapImage) -> Bool = { _, _, _ in false },
    isUnused: @escaping (UInt64, Int, HeapImage) -> Bool = { _, _, _ in false }
  ) {
    self.isSideTable = Self.remembered(isSideTable)
    self.holdsNoPointers = Self.remembered(holdsNoPointers)
    self.countsReferences = Self.remembered(countsReferences)
    self.isHashTable = Self.remembered(isHashTable)
    self.isSwiftMetadata = Self.remembered(isSwiftMetadata)
    self.isUnnamedOfSwiftRuntime = Self.remembered(isUnnamedOfSwiftRuntime)
    self.isOfDispatch = Self.remembered(isOfDispatch)
    self.isOfGObject = Self.remembered(isOfGObject)
    self.isContainer = Self.remembered(isContainer)
    self.isElements = Self.remembered(isElements)
    self.calls = calls
    self.isWeak = isWeak
    self.isCounted = isCounted
    self.isUnused = isUnused
  }

  /// The call by which a stack allocates, as an address; nil where that is not known.
  func allocatingCall(_ stack: StackID) -> UInt64? { calls(stack).first }

  /// The same question, asked once for each stack: an answer may need the names of all its frames.
  private static func remembered(_ ask: @escaping (StackID) -> Bool) -> (StackID) -> Bool {
    var answers: [StackID: Bool] = [:]
    return { stack in
      if let known = answers[stack] { return known }
      let answer = ask(stack)
      answers[stack] = answer
      return answer
    }
  }
}
