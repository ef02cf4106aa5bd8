import Reports

/// Valgrind's files: blocks in braces with a name, a kind and a line for each frame.
enum ValgrindSuppressions {
  static func parse(_ lines: [Substring], name: String) throws(GateError) -> [Suppression] {
    var result: [Suppression] = []
    var block: [(number: Int, text: Substring)]?
    for (index, line) in lines.enumerated() {
      let text = line.trimmed
      if text.isEmpty || text.hasPrefix("#") { continue }
      let place = "\(name):\(index + 1)"
      switch (text, block) {
      case ("{", nil): block = []
      case ("{", _?): throw GateError("\(place): the block before this { has no }")
      case ("}", let lines?):
        if let suppression = try suppression(lines, name) { result.append(suppression) }
        block = nil
      case (_, nil): throw GateError("\(place): '\(text)' stands outside { and }")
      default: block?.append((index + 1, text))
      }
    }
    if block != nil { throw GateError("\(name): the last block has no }") }
    return result
  }

  /// nil for a suppression of another tool or of something that memtrace does not look for.
  private static func suppression(
    _ lines: [(number: Int, text: Substring)], _ file: String
  ) throws(GateError) -> Suppression? {
    guard let first = lines.first else { return nil }
    guard lines.count >= 3 else {
      throw GateError("\(file):\(first.number): a suppression has a name, a kind and frames")
    }
    guard var kinds = kinds(of: lines[1].text) else {
      try checkSpelling(of: lines[1].text, place: "\(file):\(lines[1].number)")
      return nil
    }
    var patterns: [FramePattern] = []
    for (number, text) in lines.dropFirst(2) {
      if text.hasPrefix("match-leak-kinds:") {
        kinds.formIntersection(
          try leakKinds(text.dropFirst("match-leak-kinds:".count), place: "\(file):\(number)"))
      } else if let pattern = FramePattern(text) {
        patterns.append(pattern)
      } else {
        throw GateError("\(file):\(number): '\(text)' is not fun:, obj:, src: or ...")
      }
    }
    // It would fit every stack.
    guard !patterns.isEmpty else {
      throw GateError("\(file):\(first.number): a suppression has a name, a kind and frames")
    }
    return Suppression(
      place: "\(file):\(first.number)", name: String(first.text), form: .frames(patterns, kinds))
  }

  private static func kinds(of line: Substring) -> Set<FindingKind>? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    let tools = line[..<colon].split(separator: ",").map { $0.trimmed }
    guard tools.contains("Memcheck") else { return nil }
    switch line[line.index(after: colon)...].trimmed {
    case "Leak": return [.leak, .cycle, .unfreed]
    case "Free":
      return [
        .doubleFree, .invalidFree, .reallocOfFreed, .mismatchedFree, .wrongSize, .wrongAlignment,
      ]
    // From Valgrind 3.22 on; an aligned block that is freed as one that is not is the latter, too.
    case "SizeMismatch": return [.wrongSize]
    case "AlignMismatch": return [.wrongAlignment, .mismatchedFree]
    default: return nil
    }
  }

  /// Throws for what is nearly one of the kinds above.
  private static func checkSpelling(of line: Substring, place: String) throws(GateError) {
    let parts = line.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, parts[0].contains("Memcheck") else { return }
    try MistypedKind.check(
      parts[1].trimmed, place: place, known: ["Leak", "Free", "SizeMismatch", "AlignMismatch"])
  }

  /// The kinds of a line `match-leak-kinds:`.
  ///
  /// - Throws: ``GateError`` for a word that Valgrind does not know: it would hide nothing, silently.
  private static func leakKinds(
    _ list: Substring, place: String
  ) throws(GateError) -> Set<FindingKind> {
    var kinds: Set<FindingKind> = []
    for word in list.split(separator: ",", omittingEmptySubsequences: false) {
      switch word.trimmed {
      case "definite", "indirect": kinds.formUnion([.leak, .cycle])
      case "reachable", "possible": kinds.insert(.unfreed)
      case "all": kinds.formUnion([.leak, .cycle, .unfreed])
      case "none": break
      default:
        throw GateError(
          "\(place): '\(word.trimmed)' is no kind of leak; the kinds are definite, indirect, "
            + "possible, reachable, all and none")
      }
    }
    return kinds
  }
}

/// What a frame must be, in Valgrind's words.
enum FramePattern: Sendable, Hashable {
  /// `fun:pattern`: the symbol as it is mangled.
  case function(String)
  /// `obj:pattern`: the path of the image.
  case object(String)
  /// `src:pattern` or `src:pattern:line`.
  case source(String)
  /// `...`: any number of frames.
  case any

  init?(_ line: Substring) {
    if line == "..." {
      self = .any
    } else if line.hasPrefix("fun:") {
      self = .function(String(line.dropFirst(4)))
    } else if line.hasPrefix("obj:") {
      self = .object(String(line.dropFirst(4)))
    } else if line.hasPrefix("src:") {
      self = .source(String(line.dropFirst(4)))
    } else {
      return nil
    }
  }

  /// Whether patterns fit the innermost frames of a stack.
  ///
  /// Valgrind's stacks begin with its replacement of `malloc`; ours with the caller. So a first
  /// pattern that fits an allocator's name may stand for no frame.
  static func match(
    _ patterns: ArraySlice<FramePattern>, _ frames: ArraySlice<ReportFrame>
  ) -> Bool {
    if patterns.first?.fitsAllocator == true, begin(patterns.dropFirst(), frames) { return true }
    return begin(patterns, frames)
  }

  /// Whether the innermost frames are those of the patterns.
  ///
  /// `...` takes as few frames as it can: only the last one before a pattern that does not fit may
  /// have to take more, so that many of them do not take for ever.
  private static func begin(
    _ patterns: ArraySlice<FramePattern>, _ frames: ArraySlice<ReportFrame>
  ) -> Bool {
    var (patterns, frames) = (patterns, frames)
    var gap: (patterns: ArraySlice<FramePattern>, frames: ArraySlice<ReportFrame>)?
    while let pattern = patterns.popFirst() {
      if pattern == .any {
        gap = (patterns, frames)
        continue
      }
      guard let frame = frames.popFirst() else { return false }
      if pattern.fits(frame) { continue }
      guard let last = gap else { return false }
      (patterns, frames) = (last.patterns, last.frames.dropFirst())
      gap?.frames = frames
    }
    return true
  }

  private func fits(_ frame: ReportFrame) -> Bool {
    switch self {
    case .function(let pattern):
      return [frame.symbol, frame.name].contains {
        $0.map { Glob.matches(function: $0, pattern, caseSensitive: true) } == true
      }
    case .object(let pattern):
      return frame.image.map { Glob.matches($0, pattern, caseSensitive: true) } == true
    case .source(let pattern):
      guard let file = frame.file else { return false }
      let name = PathText.lastComponent(file)
      return [name, "\(name):\(frame.line ?? 0)"].contains {
        Glob.matches($0, pattern, caseSensitive: true)
      }
    case .any: return true
    }
  }

  private var fitsAllocator: Bool {
    switch self {
    case .function(let pattern):
      Self.allocators.contains { Glob.matches($0, pattern, caseSensitive: true) }
    case .object(let pattern): pattern.contains("vgpreload")
    default: false
    }
  }

  private static let allocators =
    [
      "malloc", "calloc", "realloc", "reallocarray", "memalign", "posix_memalign", "aligned_alloc",
      "valloc", "pvalloc", "free", "cfree", "free_sized", "free_aligned_sized",
    ]
    + operators(
      "_Znwm", "_Znam", ["", "RKSt9nothrow_t", "St11align_val_t", "St11align_val_tRKSt9nothrow_t"])
    + operators(
      "_ZdlPv", "_ZdaPv",
      [
        "", "m", "RKSt9nothrow_t", "St11align_val_t", "mSt11align_val_t",
        "St11align_val_tRKSt9nothrow_t",
      ])

  /// The mangled names of the forms of an operator.
  private static func operators(
    _ scalar: String, _ array: String, _ parameters: [String]
  ) -> [String] {
    [scalar, array].flatMap { name in parameters.map { name + $0 } }
  }
}
