/// Names of C's closures ("blocks"), which `clang -fblocks` makes and libdispatch is given.
enum ClosureNames {
  /// The name that Instruments has for closures of a class of their runtime.
  ///
  /// Source: <https://clang.llvm.org/docs/Block-ABI-Apple.html>.
  ///
  /// - Parameter symbol: What they begin with.
  /// - Returns: nil for anything but those on the heap.
  static func ofClass(_ symbol: String) -> TypeName? {
    guard symbol == "_NSConcreteMallocBlock" else { return nil }
    return TypeName(short: "__NSMallocBlock__", full: "__NSMallocBlock__", language: .c)
  }
}
