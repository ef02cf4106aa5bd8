extension AllocationExpression {
  /// The type that a call of `malloc` or its like is cast to, whose size it asks for, or that it is
  /// given.
  ///
  /// - Parameters:
  ///   - line: One line of source, with what belongs to its calls.
  ///   - column: Of the call, counted from 1; 0 when unknown.
  ///   - resolve: Names the type of an object that the line speaks of.
  /// - Returns: `Foo`, `struct node`, `Foo[]` where the size is multiplied; nil when nothing tells, or
  ///   when several calls may be meant.
  static func typeOfSize(
    in line: String, column: Int = 0, resolve: (ObjectExpression) -> String? = { _ in nil }
  ) -> String? {
    let bytes = withoutLiterals(line)
    let calls = AllocatorCall.all(in: bytes)
    if let call = calls.first(where: { $0.isAt(column - 1, in: bytes) }), call.mayAllocate {
      return type(of: call, in: bytes, resolve)
    }
    // Columns of macros are those of the macro.
    let types = calls.filter(\.mayAllocate).map { type(of: $0, in: bytes, resolve) }
    return Set(types).count == 1 ? types[0] : nil
  }

  /// Whether a call in the text goes on in the next line.
  static func goesOn(_ text: String) -> Bool {
    var depth = 0
    for byte in withoutLiterals(text) {
      if opening.contains(byte) { depth += 1 }
      if closing.contains(byte) { depth = max(0, depth - 1) }
    }
    // What begins a function, or one of its blocks, is not finished in a few lines.
    return depth > 0 && !text.contains("{")
  }

  private static func type(
    of call: AllocatorCall, in bytes: [UInt8], _ resolve: (ObjectExpression) -> String?
  ) -> String? {
    if let type = call.typeArgument { return type }
    let size = size(in: call)
    if case .type(let type) = size?.operand { return size?.named(type) }
    let cast = typeOfCast(before: bytes[..<call.start])
    if let cast, !isScalar(cast) { return size?.named(cast) ?? cast }
    if case .object(let object) = size?.operand, let type = resolve(object) {
      return size?.named(type)
    }
    // Nobody asks for a single character or number without its size.
    return cast.map { "\($0)[]" }
  }

  // MARK: Sizes

  /// A `sizeof` among the arguments of a call.
  private struct Size {
    enum Operand {
      case type(String)
      case object(ObjectExpression)
      case other
    }
    var operand: Operand
    /// Whether so many bytes are allocated several times.
    var isCounted: Bool

    func named(_ type: String) -> String { isCounted ? "\(type)[]" : type }
  }

  /// The first one; nil where there is none.
  private static func size(in call: AllocatorCall) -> Size? {
    for (position, argument) in call.arguments.enumerated() {
      let bytes = Array(argument.utf8)
      guard let start = tokens("sizeof", in: bytes).first else { continue }
      var scanner = TextScanner(String(nameBytes: bytes[(start + 6)...]))
      scanner.skipSpaces()
      let operand = takeOperand(&scanner)
      scanner.skipSpaces()
      let isMultiplied =
        scanner.current == UInt8(ascii: "*")
        || trimmed(String(nameBytes: bytes[..<start])).hasSuffix("*")
      return Size(
        operand: operand, isCounted: isMultiplied || call.countsElements(besides: position))
    }
    return nil
  }

  private static func takeOperand(_ scanner: inout TextScanner) -> Size.Operand {
    guard scanner.current == UInt8(ascii: "(") else {
      return ObjectExpression.take(&scanner).map { .object($0) } ?? .other
    }
    let operand = trimmed(String(nameBytes: scanner.skipGroup()))
    if looksLikeType(operand) { return .type(operand) }
    return ObjectExpression(operand).map { .object($0) } ?? .other
  }

  // MARK: Casts

  /// `(Foo *)malloc(…)`, `static_cast<Foo *>(std::malloc(…))`: of what stands right in front of the call.
  private static func typeOfCast(before bytes: ArraySlice<UInt8>) -> String? {
    var text = trimmed(String(nameBytes: bytes))[...]
    for scope in ["::", "std"] where text.hasSuffix(scope) { text = text.dropLast(scope.count) }
    let head = text.dropLast(while: { "( ".contains($0) })
    // `(Foo *) (malloc(…))` has its bracket in front, `static_cast<Foo *>(…)` behind.
    guard let end = head.last, ")>".contains(end) else { return nil }
    let inside = head.dropLast().dropLast(while: { $0 == " " })
    guard inside.last == "*" else { return nil }
    let name = inside.dropLast()
    guard let start = startOfGroup(in: name) else { return nil }
    let type = trimmed(String(name[start...]))
    return isTypeName(type) && type.prefix(before: " ") != "void" && type != "const void"
      ? type : nil
  }

  /// Where the group begins that a text ends in: behind the last bracket that is still open, which need
  /// not be the last one of all, as in `(Tree<int> *`.
  private static func startOfGroup(in text: Substring) -> String.Index? {
    var closed = 0
    for place in text.indices.reversed() {
      if ")>".contains(text[place]) { closed += 1 }
      guard "(<".contains(text[place]) else { continue }
      if closed == 0 { return text.index(after: place) }
      closed -= 1
    }
    return nil
  }
}

extension Substring {
  fileprivate func dropLast(while predicate: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, predicate(last) { rest.removeLast() }
    return rest
  }
}
