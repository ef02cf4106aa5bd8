/// What the C++ runtime allocates for a program besides what `new` asks for.
public enum CxxRuntimeBlocks {
  /// The name of what a stack allocated.
  ///
  /// - Parameters:
  ///   - frames: The frames between the allocator and the program's code, leaf first,
  ///     inlined ones included.
  ///   - caller: The frame behind them; nil without one.
  /// - Returns: nil when it was none of these.
  static func name(
    of frames: [SymbolicatedFrame], calledBy caller: SymbolicatedFrame?
  ) -> TypeName? {
    if isEmergencyPool(frames, calledBy: caller) { return emergencyPool }
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

  /// What libstdc++ sets aside as it starts, for exceptions that are thrown when there is no memory.
  static let emergencyPool = name("C++ emergency pool")

  /// Whether the initializers of libstdc++ made the allocation: nothing else in them allocates.
  private static func isEmergencyPool(
    _ frames: [SymbolicatedFrame], calledBy caller: SymbolicatedFrame?
  ) -> Bool {
    guard let last = frames.last else { return caller.map(isPoolInitializer) ?? false }
    guard let caller, last.isOfImage(named: "libstdc++.so") else { return false }
    return caller.isOfImage(named: "ld-") || isPoolInitializer(last)
  }

  /// Of a libstdc++ that is linked in; compilers name it after the first function of that source file.
  private static func isPoolInitializer(_ frame: SymbolicatedFrame) -> Bool {
    guard let function = frame.function?.raw else { return false }
    return function == "_GLOBAL__sub_I__ZN9__gnu_cxx9__freeresEv"
      || function == "_GLOBAL__sub_I_eh_alloc.cc"
  }

  /// Whether a name is that of an exception whose type the stack does not tell.
  public static func isException(_ name: String) -> Bool { name == exception.short }

  private static func name(_ text: String) -> TypeName {
    TypeName(short: text, full: text, language: .cxx)
  }
}

extension SymbolicatedFrame {
  /// Whether its code is in a file with such a name, whatever its version.
  fileprivate func isOfImage(named prefix: String) -> Bool {
    guard let path = imagePath, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
      return false
    }
    return path[path.index(after: slash)...].hasPrefix(prefix)
  }
}
