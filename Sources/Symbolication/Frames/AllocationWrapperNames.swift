/// Functions of C that allocate for their callers, told by their names alone where no debug information
/// says how they are declared.
enum AllocationWrapperNames {
  /// Whether a function is one of C that is named like one.
  static func isOne(_ function: FunctionName) -> Bool {
    function.language == .plain && isOne(function.base)
  }

  /// Whether a function is named like one.
  ///
  /// - Parameter name: Of a function of C.
  /// - Returns: True for `mono_g_calloc`, `my_strdup`, `JS_Realloc` and `tor_malloc_`, false for `leak_malloc`, which
  ///   tells what is done with it, and for `node_alloc`, which may allocate objects of its own.
  static func isOne(_ name: String) -> Bool {
    let words = words(of: name)
    guard words.count > 1, let last = words.last, allocators.contains(last) else { return false }
    return !words.contains(where: others.contains)
  }

  /// Whether a function is named like one that frees what its callers give it.
  ///
  /// - Parameter name: Of a function of C.
  /// - Returns: True for `my_free` and `pool_dealloc`, false for `free_node`, which tells what it frees, and for
  ///   `double_free`, which tells what is done with it.
  static func frees(_ name: String) -> Bool {
    let words = words(of: name)
    guard words.last.map(deallocators.contains) == true else { return false }
    return !words.dropLast().contains(where: others.contains)
  }

  /// The words of a name in lower case: `js`, `realloc` of `JS_Realloc2`.
  private static func words(of name: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isAfterLower = false
    for scalar in name.unicodeScalars {
      let isUpper = ("A"..."Z").contains(scalar)
      let isLetter = isUpper || ("a"..."z").contains(scalar)
      if !isLetter || isUpper && isAfterLower {
        if !word.isEmpty { words.append(word.lowercased()) }
        word = ""
      }
      if isLetter { word.unicodeScalars.append(scalar) }
      isAfterLower = isLetter && !isUpper
    }
    return word.isEmpty ? words : words + [word.lowercased()]
  }

  private static let allocators: Set<String> = [
    "malloc", "calloc", "realloc", "zalloc", "mallocz", "callocz", "reallocarray", "mallocarray",
    "memalign", "strdup", "strndup", "memdup", "xmalloc", "xcalloc", "xrealloc", "xstrdup",
  ]

  private static let deallocators: Set<String> = [
    "free", "xfree", "efree", "dealloc", "deallocate",
  ]

  /// Of names of functions that allocate for themselves, in programs that try something out.
  private static let others: Set<String> = [
    "leak", "leaks", "leaked", "leaky", "leaking", "test", "tests", "try", "do", "use", "uses",
    "using", "call",
    "calls", "by", "with", "and", "from", "via", "in", "after", "before", "free", "freed", "double",
    "lost",
    "bad", "bug", "fail", "failed", "failing", "error", "no", "not", "never", "main", "run",
    "bench", "benchmark",
  ]
}
