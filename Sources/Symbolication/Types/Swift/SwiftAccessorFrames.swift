import TraceReader

/// What the accessors of Swift allocate that are coroutines: they run up to the value, and on when the caller is done
/// with it.
///
/// Who calls one has some room for what it must remember meanwhile. What does not fit in, or is of a size that only
/// generic code knows when it runs, goes to the heap, at each use of the property or subscript.
enum SwiftAccessorFrames {
  /// The name of what a stack allocated: `Dictionary.subscript.modify coroutine frame`.
  ///
  /// - Parameters:
  ///   - frames: The frames between the allocator and the program's code, leaf first, inlined ones included.
  ///   - caller: The one behind them.
  /// - Returns: nil when it was nothing of the kind.
  static func name(of frames: [SymbolicatedFrame], calledBy caller: SymbolicatedFrame?) -> TypeName?
  {
    let callers = frames.lazy.map(\.function) + [caller?.function]
    let first = callers.first { !RuntimeNames.isAllocator($0) }
    guard let function = first ?? nil, let accessor = accessor(function) else { return nil }
    let name = "\(accessor) coroutine frame"
    return TypeName(short: name, full: name, language: .swift)
  }

  /// What such an accessor is called, also as what a protocol asks for; nil for other functions.
  private static func accessor(_ function: FunctionName) -> String? {
    guard function.language == .swift,
      kinds.contains(where: { function.full.firstRange(of: "\($0) : ") != nil })
    else { return nil }
    var name = function.base[...]
    if name.hasPrefix(witness) {
      name = name.dropFirst(witness.count)
      name = name.firstRange(of: " in conformance ").map { name[..<$0.lowerBound] } ?? name
    }
    // Not what is in one, such as a closure.
    guard name.firstRange(of: " in ") == nil, kinds.contains(where: name.hasSuffix) else {
      return nil
    }
    return String(name)
  }

  private static let kinds = [".read", ".modify"]
  private static let witness = "protocol witness for "
}
