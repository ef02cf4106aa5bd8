/// What of a stack only makes room for an object of Swift and initializes it.
///
/// `Node.__allocating_init()` says no more than that a `Node` was made, which its type tells as well, and stands at the
/// line that declares the class. As with `new Node` of C++, whoever asks for the object is meant: `let node = Node()`.
/// Nothing is told of what an initializer allocates besides the object.
struct SwiftObjectCreation {
  private enum State {
    /// Only allocators so far.
    case allocating
    /// The object's initializer, and those that delegate to it.
    case initializing
    /// Anything else.
    case over
  }

  private var state = State.allocating

  /// Looks at the next frame.
  ///
  /// - Returns: Whether the function does nothing but make the object.
  mutating func isPart(_ frame: SymbolicatedFrame) -> Bool {
    switch state {
    case .allocating:
      if frame.role == .user, frame.isAllocatingInitializer {
        state = .initializing
        return true
      }
      if frame.role != .runtime || frame.function?.language == .swift { state = .over }
    case .initializing:
      if frame.isAllocatingInitializer || frame.function.map(Self.isThunk) == true { return true }
      state = .over
    case .over: break
    }
    return false
  }

  /// Whether the compiler has written the function to call the initializer that a protocol or an open class has.
  private static func isThunk(_ function: FunctionName) -> Bool {
    thunks.contains { function.base.hasPrefix($0) }
  }

  private static let thunks = ["protocol witness for ", "dispatch thunk of ", "vtable thunk for "]
}
