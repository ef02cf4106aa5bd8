/// A command to type next.
public struct NextCommand: Sendable, Hashable, Encodable {
  /// The command line.
  public var command: String
  /// What it shows.
  public var purpose: String

  init(_ command: String, _ purpose: String) {
    self.command = command
    self.purpose = purpose
  }

  /// What else could tell why a process crashed.
  ///
  /// - Parameters:
  ///   - trace: Its trace.
  ///   - checks: What the recording looked for in the heap.
  ///   - knowsPlace: Whether the trace says where it crashed, as it does where it has looked for anything.
  /// - Returns: nil where it has looked for everything.
  static func explainingCrash(
    of trace: TraceSummary, without checks: Set<HeapCheck>, knowsPlace: Bool
  ) -> NextCommand? {
    HeapCheck.search(without: checks).map { search in
      NextCommand(
        "memtrace errors \(search.options) -- \(trace.commandLine)",
        "\(knowsPlace ? "" : "where it was, and ")whether it \(search.purpose)")
    }
  }

  /// Names for code that a page shows as offsets.
  ///
  /// - Parameters:
  ///   - file: The trace.
  ///   - frames: What the page names as responsible.
  /// - Returns: nil where all of them have names, or no file that could have some.
  static func fetchingNames(of file: String, for frames: [ReportFrame?]) -> NextCommand? {
    var images: [String] = []
    for case let frame? in frames where frame.lacksName {
      if let image = frame.imageName, !images.contains(image) { images.append(image) }
    }
    guard let first = images.first else { return nil }
    let others = images.count == 1 ? "" : " and \(CountText.of(UInt64(images.count - 1), "other"))"
    return NextCommand(
      "memtrace report \(file) --debuginfod", "names for the code of \(first)\(others)")
  }
}

extension [NextCommand] {
  /// Writes the commands with what they are for, as far as the terminal has room for that.
  func write(to page: inout TextPage) {
    page.heading("Next:")
    let width = map(\.command.displayWidth).max() ?? 0
    for next in self {
      let purpose = "  # \(next.purpose)"
      let command = next.command.rightPadded(to: width)
      if let limit = page.style.width, 2 + width + purpose.displayWidth > limit {
        page.line("  ", Span(next.command, .emphasis))
      } else {
        page.line("  ", Span(command, .emphasis), Span(purpose, .faint))
      }
    }
  }
}
