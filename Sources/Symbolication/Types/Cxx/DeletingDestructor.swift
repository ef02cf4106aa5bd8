/// The class that a deleting destructor belongs to: what its caller frees is an object of it.
public enum DeletingDestructor {
  /// The name of the class, from the function that called `operator delete`.
  ///
  /// At `-O0` a block's first word has become that of the base class by then, but its own deleting
  /// destructor makes the call.
  ///
  /// - Parameter function: `_ZN3geo6CircleD0Ev`.
  /// - Returns: nil for any other function, also for the destructor that does not delete.
  public static func className(_ function: FunctionName) -> String? {
    guard function.language == .cxx, function.raw.hasSuffix("D0Ev"),
      let tilde = function.base.lastIndex(of: "~")
    else { return nil }
    let owner = function.base[..<tilde]
    return owner.hasSuffix("::") ? String(owner.dropLast(2)) : nil
  }
}
