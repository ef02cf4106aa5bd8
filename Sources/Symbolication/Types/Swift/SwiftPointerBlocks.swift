import TraceReader

/// Memory that programs of Swift allocate by `UnsafeMutablePointer<T>.allocate(capacity:)` and by that of
/// `UnsafeMutableBufferPointer`, where the optimizer has made it for one type.
///
/// Nothing in such a block tells what it is, and code that is not optimized gets the type as an argument.
enum SwiftPointerBlocks {
  /// The beginnings of the mangled names, and what they belong to.
  private static let functions = [
    "$sSp8allocate8capacity": "UnsafeMutablePointer",
    "$sSr8allocate8capacity": "UnsafeMutableBufferPointer",
  ]

  /// The name of what a stack allocated: `UnsafeMutablePointer<Swift.Int> storage`.
  ///
  /// - Parameter frames: The frames between the allocator and the program's code, leaf first, inlined ones included.
  /// - Returns: nil when it was nothing of the kind.
  static func name(of frames: some Sequence<SymbolicatedFrame>) -> TypeName? {
    var name: TypeName?
    for function in frames.lazy.compactMap(\.function) where function.language == .swift {
      // A buffer pointer asks a pointer: the outer one is what the program has.
      guard let pointer = functions.first(where: { function.raw.hasPrefix($0.key) })?.value,
        let type = argument(of: function.full)
      else { continue }
      let short = SwiftTypeNames.withoutStandardModule(type)
      name = TypeName(
        short: "\(pointer)<\(short)> storage", full: "Swift.\(pointer)<\(type)> storage",
        language: .swift)
    }
    return name
  }

  /// `T` of `generic specialization <T> of static …`, and of `<serialized, T>`, where other modules may inline it.
  private static func argument(of function: String) -> String? {
    guard let start = function.firstRange(of: "specialization <"),
      let end = function.firstRange(of: "> of "), start.upperBound < end.lowerBound
    else { return nil }
    let argument = function[start.upperBound..<end.lowerBound]
    return String(argument.hasPrefix(serialized) ? argument.dropFirst(serialized.count) : argument)
  }

  private static let serialized = "serialized, "
}
