import Reports

/// A pattern that hides findings, read from a file in the form of LeakSanitizer or Valgrind.
public struct Suppression: Sendable, Hashable {
  /// What a suppression compares with.
  enum Form: Sendable, Hashable {
    /// A pattern that any function, source file or image of the stack may fit.
    case anyFrame(TextPattern)
    /// Patterns for the frames from the leaf on, and the kinds they are about.
    case frames([FramePattern], Set<FindingKind>)
  }

  /// Where it stands: `lsan.supp:3`.
  public var place: String
  /// What it is called, or the pattern itself.
  public var name: String
  var form: Form

  /// What it is and where it stands: `leak:parse (lsan.supp:3)`.
  var title: String { Self.title(name, at: place) }

  /// The title of a suppression with this name.
  static func title(_ name: String, at place: String) -> String { "\(name) (\(place))" }

  /// Whether a finding is hidden.
  func hides(_ finding: Finding) -> Bool {
    switch form {
    case .anyFrame(let pattern):
      guard !finding.kind.isMemoryError else { return false }
      return finding.frames.contains { frame in
        [frame.symbol, frame.name, frame.fullName, frame.file, frame.image]
          .contains { $0.map(pattern.isFound) == true }
      }
    case .frames(let patterns, let kinds):
      return kinds.contains(finding.kind)
        && FramePattern.match(patterns[...], finding.frames[...])
    }
  }
}

/// Suppressions of several files.
public struct SuppressionSet: Sendable, Hashable {
  /// In the order of the files.
  public private(set) var suppressions: [Suppression] = []

  /// Makes an empty set.
  public init() {}

  /// Adds a file: LeakSanitizer's `leak:pattern` lines, or Valgrind's blocks in braces.
  ///
  /// - Throws: ``GateError`` for what is neither.
  public mutating func add(_ text: String, name: String) throws(GateError) {
    // Editors of Windows begin files with a mark of their own.
    let scalars = text.unicodeScalars
    let text = scalars.first == "\u{feff}" ? Substring(scalars.dropFirst()) : text[...]
    // Both ends of lines are one character.
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    let first = lines.map(\.trimmed).first { !$0.isEmpty && !$0.hasPrefix("#") }
    let isValgrind = first?.hasPrefix("{") == true
    suppressions +=
      isValgrind
      ? try ValgrindSuppressions.parse(lines, name: name)
      : try LSanSuppressions.parse(lines, name: name)
  }

  /// The first suppression that hides a finding; nil when none does.
  func first(hiding finding: Finding) -> Suppression? {
    suppressions.first { $0.hides(finding) }
  }
}

/// LeakSanitizer's files: `leak:pattern`, comments behind `#`.
enum LSanSuppressions {
  static func parse(_ lines: [Substring], name: String) throws(GateError) -> [Suppression] {
    var result: [Suppression] = []
    for (index, line) in lines.enumerated() {
      let text = line.trimmed
      if text.isEmpty || text.hasPrefix("#") { continue }
      let place = "\(name):\(index + 1)"
      guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
        throw GateError("\(place): '\(text)' is no suppression; it looks like leak:pattern")
      }
      // Other sanitizers' kinds may stand in a file that is used for all of them.
      guard text[..<colon] == "leak" else {
        try MistypedKind.check(text[..<colon], place: place, known: ["leak"])
        continue
      }
      let pattern = text[text.index(after: colon)...].trimmed
      // It would fit everything.
      guard !pattern.isEmpty else {
        throw GateError("\(place): '\(text)' has no pattern; it looks like leak:pattern")
      }
      result.append(
        Suppression(
          place: place, name: "leak:\(pattern)", form: .anyFrame(TextPattern(String(pattern)))))
    }
    return result
  }
}

/// A text with `*`, which may stand anywhere in another unless `^` and `$` hold it to the ends.
struct TextPattern: Sendable, Hashable {
  private let glob: String

  init(_ pattern: String) {
    var text = pattern[...]
    let isAtStart = text.hasPrefix("^")
    if isAtStart { text = text.dropFirst() }
    let isAtEnd = text.hasSuffix("$")
    if isAtEnd { text = text.dropLast() }
    glob = (isAtStart ? "" : "*") + text + (isAtEnd ? "" : "*")
  }

  func isFound(in text: String) -> Bool { Glob.matches(text, glob, caseSensitive: true) }
}
