import TraceReader

/// Blocks that the system's own libraries never free, by design or because the process ends anyway.
///
/// No program can do anything about them, so they are counted apart; `--all` shows them. Each rule
/// is listed in docs/leaks.md with the reason.
enum SystemLeaks {
  /// A rule: blocks allocated by these functions of these images.
  struct Rule: Sendable {
    /// The beginnings of the image's file name.
    var images: [String]
    /// Functions, one of which must be on the stack inside the image; empty: any.
    var functions: [String]
  }

  /// The rules.
  static let rules: [Rule] = [
    // The dynamic loader's tables of objects, scopes and thread-local variables.
    Rule(images: ["ld-linux", "ld-2."], functions: [])
  ]

  /// Whether a stack is that of a block which a library keeps for itself: its innermost frame that
  /// is no allocator's lies in the library.
  static func covers(_ frames: [ReportFrame]) -> Bool {
    guard let frame = frames.first(where: { !isAllocator($0) }), let image = frame.imageName else {
      return false
    }
    return rules.contains { rule in
      rule.images.contains { image.hasPrefix($0) }
        && (rule.functions.isEmpty || rule.functions.contains { frame.name.hasPrefix($0) })
    }
  }

  private static func isAllocator(_ frame: ReportFrame) -> Bool {
    let image = frame.imageName ?? ""
    return image.hasPrefix("libmemtrace.so")
      || ["malloc", "calloc", "realloc", "posix_memalign"].contains(frame.name)
  }
}
