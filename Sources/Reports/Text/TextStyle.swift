#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How a report is written as text.
public struct TextStyle: Sendable, Hashable {
  /// Columns that a table may take; nil when there is no limit (output is not a terminal).
  public var width: Int?
  /// Whether colours are written.
  public var isColoured: Bool
  /// How numbers of bytes are written.
  public var bytes: ByteStyle
  /// Whether nothing but ASCII is drawn with.
  public var isASCII: Bool

  /// Makes a style; without arguments that of a file: no limit, no colours, human units.
  public init(
    width: Int? = nil, isColoured: Bool = false, bytes: ByteStyle = .human, isASCII: Bool = false
  ) {
    self.width = width
    self.isColoured = isColoured
    self.bytes = bytes
    self.isASCII = isASCII
  }

  /// The style for an output, from the facts about it.
  ///
  /// - Parameters:
  ///   - isTerminal: Whether the output is a terminal.
  ///   - terminalColumns: The terminal's own width, when it says.
  ///   - environment: Looked up for `COLUMNS`, `NO_COLOR` (https://no-color.org), `CLICOLOR_FORCE`
  ///     (https://bixense.com/clicolors), `TERM`, and `LC_ALL`, `LC_CTYPE` and `LANG`.
  ///   - bytes: How numbers of bytes are written.
  /// - Returns: No limit unless the output is a terminal, and no colours unless it is one or they are asked for.
  public static func suiting(
    isTerminal: Bool, terminalColumns: Int?, environment: (String) -> String?,
    bytes: ByteStyle = .human
  ) -> TextStyle {
    guard isTerminal else {
      return TextStyle(isColoured: wantsColour(environment) ?? false, bytes: bytes)
    }
    let columns = environment("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    let hasColour = (environment("TERM") ?? "dumb") != "dumb"
    let width = max(leastWidth, columns ?? terminalColumns ?? 80)
    return TextStyle(
      width: width, isColoured: wantsColour(environment) ?? hasColour, bytes: bytes,
      isASCII: !isUTF8(environment))
  }

  /// Whether somebody asks for colours, or for none, whatever the output is; nil where nobody does either.
  private static func wantsColour(_ environment: (String) -> String?) -> Bool? {
    if !(environment("NO_COLOR") ?? "").isEmpty { return false }
    let forced = environment("CLICOLOR_FORCE") ?? ""
    return forced.isEmpty || forced == "0" ? nil : true
  }

  /// Whether the terminal's character set is UTF-8, as setlocale(3) finds it out; where nothing is
  /// said, it nearly always is.
  private static func isUTF8(_ environment: (String) -> String?) -> Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
    guard let locale = names.compactMap(environment).first(where: { !$0.isEmpty }) else {
      return true
    }
    let name = locale.lowercased()
    return name.contains("utf-8") || name.contains("utf8")
  }

  /// Below so many columns no table is readable; let the terminal wrap it instead.
  public static let leastWidth = 40

  /// The width of the terminal that standard output is, in columns; nil when it is none, or does
  /// not say.
  public static var terminalColumns: Int? {
    var size = winsize()
    let asked = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return asked ? Int(size.ws_col) : nil
  }

  /// Text for this style: with ASCII alone where a terminal has no more.
  public func drawn(_ text: String) -> String {
    isASCII ? ASCIIText.of(text.replacing("…", with: "...")) : text
  }

  /// The style that suits standard error as it is now.
  public static func forStandardError() -> TextStyle {
    suiting(
      isTerminal: isatty(STDERR_FILENO) == 1, terminalColumns: nil,
      environment: { name in getenv(name).map { String(cString: $0) } })
  }

  /// The style that suits standard output as it is now.
  public static func forStandardOutput(bytes: ByteStyle = .human) -> TextStyle {
    suiting(
      isTerminal: isatty(STDOUT_FILENO) == 1,
      terminalColumns: terminalColumns,
      environment: { name in getenv(name).map { String(cString: $0) } },
      bytes: bytes)
  }
}
