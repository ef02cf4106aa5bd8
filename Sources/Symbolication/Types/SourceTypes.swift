/// The types that source lines name where they allocate.
public final class SourceTypes {
  private let lines: SourceLines

  /// Makes a reader of source files.
  ///
  /// - Parameter recordedAt: When the recording began, in nanoseconds since 1970: a file changed
  ///   since then is not asked.
  public init(recordedAt: UInt64?) {
    lines = SourceLines(newestAt: recordedAt)
  }

  /// The type that a frame of the program allocates.
  ///
  /// - Parameters:
  ///   - frame: The frame that called the allocator.
  ///   - isNew: Whether it was a `new` expression.
  /// - Returns: nil when the source is not at hand, has changed since, or does not tell.
  public func type(allocatedBy frame: SymbolicatedFrame, isNew: Bool) -> TypeName? {
    guard let location = frame.location, location.line > 0, !isOfD(location.path),
      let line = lines.line(location.line, of: location.path)
    else { return nil }
    let spelled =
      isNew
      ? AllocationExpression.typeOfNew(in: line, column: location.column)
      : AllocationExpression.typeOfSize(in: line)
    let text = spelled.flatMap { type in
      TemplateParameters.resolve(type, in: frame.baseName, at: location.line) {
        lines.line($0, of: location.path)
      }
    }
    let isCxx = isNew || frame.function?.language == .cxx
    return text.map { TypeName(short: $0, full: $0, language: isCxx ? .cxx : .c) }
  }

  /// D looks much the same, but nothing tells its templates and their parameters apart from functions.
  private func isOfD(_ path: String) -> Bool { path.hasSuffix(".d") || path.hasSuffix(".di") }
}
