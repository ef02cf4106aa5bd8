import Reports

/// Names of functions as ``FunctionText`` writes them, each made once: stacks have most of theirs in common.
struct NormalisedNames {
  private var known: [String: String] = [:]

  /// A name without what changes from build to build.
  mutating func name(_ name: String) -> String {
    if let normalised = known[name] { return normalised }
    let normalised = FunctionText.normalised(name)
    known[name] = normalised
    return normalised
  }

  /// The functions of a stack that tell it from others; recursion stands once.
  ///
  /// Without their images: the same program may be built under another name.
  ///
  /// - Parameter frames: The stack, leaf first.
  /// - Returns: At most ``Fingerprint/frameLimit`` names, leaf first.
  mutating func names(_ frames: [ReportFrame]) -> [String] {
    let own = frames.filter { $0.role == .user }
    let chosen = own.isEmpty ? frames.filter { $0.role == .system } : own
    var lines: [String] = []
    for frame in chosen {
      let line = name(frame.name)
      if lines.last != line { lines.append(line) }
      if lines.count == Fingerprint.frameLimit { break }
    }
    return lines
  }
}
