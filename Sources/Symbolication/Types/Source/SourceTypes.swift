/// The types that source lines name where they allocate.
final class SourceTypes {
  private let lines: SourceLines
  /// By the paths of files.
  private var templates: [String: [TemplateParameters.Head]] = [:]

  /// Makes a reader of source files.
  ///
  /// - Parameters:
  ///   - recordedAt: When the recording began, in nanoseconds since 1970: a file changed since then is not asked.
  ///   - root: Where the recorded programs' own file system is; nil where it is this one.
  init(recordedAt: UInt64?, root: SystemRoot?) {
    lines = SourceLines(newestAt: recordedAt, root: root)
  }

  /// The line at a place; nil when the source is not at hand or has changed since.
  func line(at location: SourceLocation) -> String? {
    lines.line(location.line, of: location.path)
  }

  /// The type that a frame of the program allocates.
  ///
  /// - Parameters:
  ///   - frame: The frame that called the allocator.
  ///   - isNew: Whether it was a `new` expression.
  ///   - resolve: Names the type of an object that the frame speaks of.
  ///   - aliased: Names the type that a class template which the frame is of gives a name to.
  /// - Returns: nil when the source is not at hand, has changed since, or does not tell.
  func type(
    allocatedBy frame: SymbolicatedFrame, isNew: Bool,
    resolve: (ObjectExpression) -> String? = { _ in nil },
    aliased: (String) -> String? = { _ in nil }
  ) -> TypeName? {
    guard let location = frame.location, location.line > 0, !isOfD(location.path),
      let line = lines.line(location.line, of: location.path)
    else { return nil }
    if frame.function?.language == .swift {
      return SwiftPointerExpression.pointer(in: line)
        .map { Self.name("\($0) storage", of: frame, isNew: isNew) }
    }
    let spelled =
      isNew
      ? AllocationExpression.typeOfNew(in: line, column: location.column)
      : AllocationExpression.typeOfSize(
        in: call(line, at: location), column: location.column
      ) { resolve($0) ?? parameter($0, of: frame, at: location) }
    let text = spelled.flatMap { argument($0, of: frame, at: location) }
      .flatMap { meant($0, of: frame, at: location, aliased) }
    return text.map { Self.name($0, of: frame, isNew: isNew) }
  }

  /// A type with the arguments of the template that a frame is of, in place of its parameters.
  private func argument(
    _ type: String, of frame: SymbolicatedFrame, at location: SourceLocation
  ) -> String? {
    TemplateParameters.resolve(
      type, in: frame.baseName, at: location.line, heads: templates(in: location.path))
  }

  /// A type of a template without the names that the template gives to types.
  ///
  /// - Returns: nil where such a name stands for a type that neither the source nor `aliased` tells.
  private func meant(
    _ type: String, of frame: SymbolicatedFrame, at location: SourceLocation,
    depth: Int = 0, _ aliased: (String) -> String?
  ) -> String? {
    let spelled = CxxSpelledName(type)
    let name = spelled.pattern
    guard frame.baseName.utf8.contains(UInt8(ascii: "<")), name == spelled.first, !name.isEmpty
    else { return type }
    let meaning = SourceAliases.meaning(
      of: name, at: location.line, column: location.column, in: lines.lines(of: location.path))
    if case .type(let target) = meaning, target != name, depth < Self.deepestAlias,
      let found = argument(target, of: frame, at: location)
        .flatMap({ meant($0, of: frame, at: location, depth: depth + 1, aliased) })
    {
      return found + spelled.rest
    }
    if let found = aliased(name) { return found + spelled.rest }
    return meaning == nil ? type : nil
  }

  private static let deepestAlias = 4

  private func templates(in path: String) -> [TemplateParameters.Head] {
    let heads = templates[path] ?? TemplateParameters.heads(in: lines.lines(of: path))
    templates[path] = heads
    return heads
  }

  /// What looks like an object, as `T` in `sizeof(T)`, but is a parameter of the template that a frame is of.
  private func parameter(
    _ object: ObjectExpression, of frame: SymbolicatedFrame, at location: SourceLocation
  ) -> String? {
    guard object.steps.isEmpty, let type = argument(object.root, of: frame, at: location),
      type != object.root
    else { return nil }
    return object.root
  }

  /// The name of a type that an allocating frame's source has.
  static func name(_ type: String, of site: AllocationSite) -> TypeName {
    name(type, of: site.frame, isNew: site.isNew)
  }

  private static func name(_ type: String, of frame: SymbolicatedFrame, isNew: Bool) -> TypeName {
    if frame.function?.language == .swift {
      return TypeName(short: type, full: type, language: .swift)
    }
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
