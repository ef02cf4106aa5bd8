@preconcurrency import Rainbow

/// What a piece of text means, which decides its colour on a terminal that shows colours.
public enum Paint: Sendable, Hashable {
  /// Text as it is.
  case plain
  /// A heading.
  case heading
  /// The name that the reader looks for: the responsible frame, a category.
  case emphasis
  /// Text that may be skipped: system frames, addresses.
  case faint
  /// Something is wrong with the traced program.
  case error
  /// Something to know about the trace itself.
  case warning

  /// The text with the escape sequences of this paint.
  ///
  /// Rainbow decides by itself and for the whole process whether it writes colours; here the
  /// caller has decided already (see ``TextStyle``), so its own detection is switched off once.
  func applied(to text: String) -> String {
    _ = Self.rainbowPrepared
    switch self {
    case .plain: return text
    case .heading: return text.bold
    case .emphasis: return text.cyan
    case .faint: return text.dim
    case .error: return text.red.bold
    case .warning: return text.yellow
    }
  }

  private static let rainbowPrepared: Bool = {
    Rainbow.outputTarget = .console
    Rainbow.enabled = true
    return true
  }()
}

/// A piece of text and its paint.
///
/// String literals are plain.
public struct Span: Sendable, Hashable, ExpressibleByStringInterpolation {
  /// The text, as it came: control characters are written out when it is printed.
  public var text: String
  /// What the text means.
  public var paint: Paint

  /// Makes a piece of text.
  public init(_ text: String, _ paint: Paint = .plain) {
    self.text = text
    self.paint = paint
  }

  /// Makes a plain piece of text.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The text as it is printed.
  func rendered(coloured: Bool) -> String {
    let safe = text.printable
    return coloured && !safe.isEmpty ? paint.applied(to: safe) : safe
  }
}
