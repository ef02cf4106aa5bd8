/// What the C++ runtime allocates for a program besides what `new` asks for.
public enum CxxRuntimeBlocks {
  /// The name of what a stack allocated.
  ///
  /// - Parameter frames: The frames between the allocator and the program's code, leaf first,
  ///   inlined ones included.
  /// - Returns: nil when it was none of these.
  static func name(of frames: some Sequence<SymbolicatedFrame>) -> TypeName? {
    for frame in frames {
      switch frame.function?.base {
      case "__cxa_allocate_exception": return exception
      case "__cxa_allocate_dependent_exception": return dependentException
      default: continue
      }
    }
    return nil
  }

  /// What is thrown, behind the header of the runtime.
  static let exception = name("C++ exception")

  /// What `std::rethrow_exception` throws: a header that refers to the exception.
  static let dependentException = name("C++ rethrown exception")

  /// Whether a name is that of an exception whose type the stack does not tell.
  public static func isException(_ name: String) -> Bool { name == exception.short }

  private static func name(_ text: String) -> TypeName {
    TypeName(short: text, full: text, language: .cxx)
  }
}
