/// The types that source lines name where they allocate.
final class SourceTypes {
  private let lines: SourceLines

  /// Makes a reader of source files.
  ///
  /// - Parameter recordedAt: When the recording began, in nanoseconds since 1970: a file changed
  ///   since then is not asked.
  init(recordedAt: UInt64?) {
    lines = SourceLines(newestAt: recordedAt)
  }

  /// The type that a frame of the program allocates.
  ///
  /// - Parameters:
  ///   - frame: The frame that called the allocator.
  ///   - isNew: Whether it was a `new` expression.
  ///   - resolve: Names the type of an object that the frame speaks of.
  /// - Returns: nil when the source is not at hand, has changed since, or does not tell.
  func type(
    allocatedBy frame: SymbolicatedFrame, isNew: Bool,
    resolve: (ObjectExpression) -> String? = { _ in nil }
  ) -> TypeName? {
    guard let location = frame.location, location.line > 0, !isOfD(location.path),
      let line = lines.line(location.line, of: location.path)
    else { return nil }
    let spelled =
      isNew
      ? AllocationExpression.typeOfNew(in: line, column: location.column)
      : AllocationExpression.typeOfSize(
        in: call(line, at: location), column: location.column, resolve: resolve)
    let text = spelled.flatMap { type in
      TemplateParameters.resolve(type, in: frame.baseName, at: location.line) {
        lines.line($0, of: location.path)
      }
    }
    return text.map { Self.name($0, of: frame, isNew: isNew) }
  }

  /// The name of a type that an allocating frame's source has.
  static func name(_ type: String, of site: AllocationSite) -> TypeName {
    name(type, of: site.frame, isNew: site.isNew)
  }

  private static func name(_ type: String, of frame: SymbolicatedFrame, isNew: Bool) -> TypeName {
    let isCxx =
      isNew || frame.function?.language == .cxx
      || frame.location.map { CxxSourceNames.isSource($0.path) } == true
    let name = isCxx ? CxxSourceNames.plain(type) : type
    return TypeName(short: name, full: name, language: isCxx ? .cxx : .c)
  }

  /// A line, with those behind it into which a call in it goes on.
  private func call(_ line: String, at location: SourceLocation) -> String {
    var text = String(nameBytes: AllocationExpression.withoutLiterals(line))
    for next in location.line + 1..<location.line + Self.mostLines
    where AllocationExpression.goesOn(text) {
      guard let following = lines.line(next, of: location.path) else { break }
      text += " " + String(nameBytes: AllocationExpression.withoutLiterals(following))
    }
    return text
  }

  private static let mostLines = 4

  /// D looks much the same, but nothing tells its templates and their parameters apart from functions.
  private func isOfD(_ path: String) -> Bool { path.hasSuffix(".d") || path.hasSuffix(".di") }
}
