/// A place in a source file.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
  /// The path as the compiler recorded it; absolute where the compilation directory is known.
  public let path: String

  /// The line, counted from 1; 0 when the code belongs to no line.
  public let line: Int

  /// The column, counted from 1; 0 when unknown.
  public let column: Int

  /// Makes a location.
  public init(path: String, line: Int, column: Int = 0) {
    self.path = path
    self.line = line
    self.column = column
  }

  /// The last component of the path.
  public var fileName: String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    let name = path[path.index(after: slash)...]
    return name.isEmpty ? path : String(name)
  }

  /// `parser.c:42`, or `parser.c` where the line is unknown.
  public var description: String {
    line > 0 ? "\(fileName):\(line)" : fileName
  }
}
