/// A call in a line of C or C++ that may be one of an allocator, or a macro that calls one.
struct AllocatorCall {
  /// The name of the function, without its namespace.
  var function: String
  /// Where it stands in the line.
  var start: Int
  /// Where the bracket in front of its arguments stands.
  var bracket: Int
  /// Between the commas.
  var arguments: [String]

  /// Whether it may be what has called the allocator: by its name, or by a type that it is given.
  var mayAllocate: Bool { Self.isAllocator(function) || typeArgument != nil }

  /// All calls of a line, in the order in which they begin; those among the arguments of another, too.
  ///
  /// - Parameter bytes: Of the line, without literals and comments.
  /// - Returns: None for a line without brackets.
  static func all(in bytes: [UInt8]) -> [AllocatorCall] {
    var scanner = TextScanner(String(nameBytes: bytes))
    var found: [AllocatorCall] = []
    while !scanner.isAtEnd {
      let start = scanner.position
      while let byte = scanner.current, TextScanner.isIdentifier(byte) { scanner.position += 1 }
      let word = scanner.bytes[start..<scanner.position]
      guard !word.isEmpty else {
        scanner.position += 1
        continue
      }
      var ahead = scanner
      ahead.skipSpaces()
      guard ahead.current == UInt8(ascii: "(") else { continue }
      found.append(
        AllocatorCall(
          function: String(nameBytes: word), start: start, bracket: ahead.position,
          arguments: split(ahead.skipGroup())))
    }
    return found
  }

  /// Whether a compiler means the call by a place in the line: Clang that of the namespace or of the name, GCC in
  /// C++ that of the bracket.
  func isAt(_ place: Int, in bytes: [UInt8]) -> Bool {
    if start...bracket ~= place { return true }
    guard place >= 0, place < start else { return false }
    return ["std::", "::"].contains { bytes[place..<start].elementsEqual($0.utf8) }
  }

  /// Whether a function is named like one that allocates: `malloc`, `xcalloc`, `g_malloc0`, `alloc_node`, `XNEW`.
  static func isAllocator(_ function: String) -> Bool {
    let name = function.lowercased()
    return TextSearch.holds(name, "alloc") || macros.contains(name)
  }

  /// Whether the other arguments say how many elements there are: `calloc(n, sizeof(Foo))`.
  func countsElements(besides position: Int) -> Bool {
    let name = function.lowercased()
    guard name.contains("calloc") || name.contains("array") || name.hasSuffix("_n") else {
      return false
    }
    // In front of the number, `reallocarray` has the block.
    let others = arguments.indices.filter {
      $0 != position && !(arguments.count > 2 && $0 == 0)
    }
    return others.contains { arguments[$0] != "1" }
  }

  // MARK: Macros

  /// The type that a macro is given: `g_new0 (Foo, 1)`, `XNEWVEC(struct node, n)`, `talloc(context, Foo)`.
  var typeArgument: String? {
    guard !Self.operators.contains(function),
      let position = arguments.firstIndex(where: { isType($0) })
    else { return nil }
    let count = arguments.dropFirst(position + 1).first
    return count.map { $0 == "1" } ?? true ? arguments[position] : "\(arguments[position])[]"
  }

  private func isType(_ argument: String) -> Bool {
    guard AllocationExpression.looksLikeType(argument) else { return false }
    // What is no type's name for sure is a number more often than a type.
    return Self.macros.contains(function.lowercased()) || Self.upperMacros.contains(function)
      || ["struct ", "union "].contains { argument.hasPrefix($0) }
  }

  /// Those of GLib, libiberty, talloc, CPython and others, in lower case.
  private static let macros: Set<String> = [
    "g_new", "g_new0", "g_try_new", "g_try_new0", "g_renew", "g_try_renew", "g_slice_new",
    "g_slice_new0", "xnew", "xnew0", "xcnew", "xnewvec", "xcnewvec", "xresizevec", "new0",
    "znew", "talloc", "talloc_zero", "talloc_array", "talloc_zero_array", "pymem_new",
    "pymem_resize",
  ]
  private static let upperMacros: Set<String> = [
    "NEW", "ALLOC", "ALLOC_N", "ZALLOC", "CALLOC", "MALLOC",
  ]
  /// What is given types, too.
  private static let operators: Set<String> = [
    "sizeof", "offsetof", "alignof", "_Alignof", "typeof", "__typeof__", "va_arg", "container_of",
    "decltype", "typeid",
  ]

  private static func split(_ bytes: ArraySlice<UInt8>) -> [String] {
    var parts: [ArraySlice<UInt8>] = []
    var (start, depth) = (bytes.startIndex, 0)
    for (position, byte) in zip(bytes.indices, bytes) {
      if AllocationExpression.opening.contains(byte) { depth += 1 }
      if AllocationExpression.closing.contains(byte) { depth -= 1 }
      guard byte == UInt8(ascii: ","), depth == 0 else { continue }
      parts.append(bytes[start..<position])
      start = position + 1
    }
    return (parts + [bytes[start...]]).map { AllocationExpression.trimmed(String(nameBytes: $0)) }
  }
}
