import Symbolication

/// Backtraces as lines of text, leaf first.
package enum StackText {
  /// Writes the frames, one line each.
  ///
  /// The frames of allocators and runtimes at the leaf say nothing but that memory was asked for:
  /// they are left out when a user's frame follows, as in every other tool's "responsible caller".
  package static func write(
    _ frames: [ReportFrame], to page: inout TextPage, indent: Int, limit: Int = .max
  ) {
    guard !frames.isEmpty else {
      page.line([Span("<no stack recorded>", .faint)], indent: indent)
      return
    }
    write(telling(frames), to: &page, indent: indent, limit: limit)
  }

  /// Writes the frames below another stack: those at the leaf that both have are counted where there are several.
  package static func write(
    _ frames: [ReportFrame], below other: [ReportFrame], to page: inout TextPage, indent: Int,
    limit: Int
  ) {
    let shown = telling(frames)
    let shared = zip(shown, telling(other)).prefix { ($0.name, $0.place) == ($1.name, $1.place) }
    guard shared.count > 1, shared.count < shown.count else {
      write(frames, to: &page, indent: indent, limit: limit)
      return
    }
    page.line([Span("… \(shared.count) frames as above", .faint)], indent: indent)
    write(shown.dropFirst(shared.count), to: &page, indent: indent, limit: limit)
  }

  private static func write(
    _ frames: ArraySlice<ReportFrame>, to page: inout TextPage, indent: Int, limit: Int
  ) {
    let shown = FoldedStack(frames).lines
    guard shown.count > limit, limit > 0 else {
      for line in shown { page.line(spans(of: line), indent: indent) }
      return
    }
    // The user's frame is what the stack is printed for: it is shown in place of the last one.
    let user = shown.firstIndex { $0.isUser } ?? shown.startIndex
    let isBeyond = user >= shown.startIndex + limit
    let head = shown.prefix(isBeyond ? limit - 1 : limit)
    for line in head { page.line(spans(of: line), indent: indent) }
    if isBeyond {
      gap(shown[head.endIndex..<user], to: &page, indent: indent)
      page.line(spans(of: shown[user]), indent: indent)
    }
    gap(shown[(isBeyond ? user + 1 : head.endIndex)...], to: &page, indent: indent)
  }

  private static func gap(
    _ lines: ArraySlice<FoldedStack.Line>, to page: inout TextPage, indent: Int
  ) {
    guard !lines.isEmpty else { return }
    let count = lines.reduce(0) { $0 + $1.frameCount }
    page.line([Span(CountText.more(count, "frame"), .faint)], indent: indent)
  }

  /// The frames that say something: without runtimes at the leaf and what runs before `main`.
  package static func telling(_ frames: [ReportFrame]) -> ArraySlice<ReportFrame> {
    withoutStartup(withoutLeadingRuntime(frames))
  }

  /// The frames from the first that is not a runtime's; all of them where none is the user's.
  package static func withoutLeadingRuntime(_ frames: [ReportFrame]) -> ArraySlice<ReportFrame> {
    guard frames.contains(where: { $0.role == .user }) else { return frames[...] }
    return frames.drop { $0.role == .runtime }
  }

  /// What runs before `main` and before the function of a thread; the same in every stack.
  private static let startupFunctions: Set<String> = [
    "_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
    "start_thread", "clone", "clone3", "__clone", "__clone3", "__GI___clone", "__GI___clone3",
    "execute_native_thread_routine",
  ]

  private static func withoutStartup(_ frames: ArraySlice<ReportFrame>) -> ArraySlice<ReportFrame> {
    let frames = withoutRustStartup(frames)
    let last = frames.lastIndex { !isStartup($0) }
    return last.map { frames[...$0] } ?? frames
  }

  /// Whether an outermost frame only starts the program or a thread.
  ///
  /// Those of the standard libraries of C and C++ are local to them: where no debug information is installed they have
  /// no names.
  private static func isStartup(_ frame: ReportFrame) -> Bool {
    if startupFunctions.contains(frame.name) { return true }
    guard frame.lacksName, let image = frame.imageName else { return false }
    return ["libc.so", "libc-", "libpthread", "libstdc++.so"].contains { image.hasPrefix($0) }
  }

  /// In Rust what is around this function, which the standard library has for it: a dozen frames around `main`, the
  /// closure of each thread, and each test.
  private static let rustStartup: StaticString = "__rust_begin_short_backtrace"

  private static func withoutRustStartup(
    _ frames: ArraySlice<ReportFrame>
  ) -> ArraySlice<ReportFrame> {
    guard let start = frames.firstIndex(where: { TextSearch.holds($0.name, rustStartup) }),
      let last = frames[..<start].lastIndex(where: { $0.role == .user || !isRustCall($0) })
    else { return frames }
    return frames[...last]
  }

  /// Whether a frame does nothing but call a function or closure that it was given.
  private static func isRustCall(_ frame: ReportFrame) -> Bool {
    frame.name.contains("core::ops::function::FnOnce") && frame.name.contains("::call_once")
  }

  private static func spans(of line: FoldedStack.Line) -> [Span] {
    switch line {
    case .frame(let frame): spans(of: frame)
    case .again(let period, let times):
      [Span(FoldedStack.text(period: period, times: times), .faint)]
    }
  }

  private static func spans(of frame: ReportFrame) -> [Span] {
    let paint: Paint =
      switch frame.role {
      case .user: .emphasis
      case .marker: .warning
      case .runtime, .system: .faint
      }
    var spans = [Span(frame.name, paint)]
    if let place = frame.place {
      spans.append(Span("  \(place)"))
    }
    if frame.role != .user, let image = frame.imageName, !frame.name.hasPrefix(image + "+") {
      spans.append(Span("  (\(image))", .faint))
    }
    if frame.isInlined { spans.append(Span("  [inlined]", .faint)) }
    return spans
  }
}
