/// Why a trace cannot be read.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Status: Hashable, Sendable {
    /// The file is not a trace at all.
    case notATrace
    /// Written in a version of the format that this reader does not know.
    case unsupportedVersion
    /// The file ends before its header does.
    case truncated
    /// The header contradicts itself.
    case corrupt
    /// Parts of the trace contradict each other.
    case inconsistent
    /// The system refused to open or read the file.
    case io
  }

  /// The kind of failure.
  public var status: Status
  /// Where in the file; nil when the file as a whole is meant.
  public var offset: UInt64?
  /// What was found and what to do, one line, without the name of the file.
  public var context: String
  /// The path of the file; empty when not known.
  public var path: String

  /// Creates an error.
  public init(_ status: Status, at offset: UInt64? = nil, _ context: String, path: String = "") {
    self.status = status
    self.offset = offset
    self.context = context
    self.path = path
  }

  /// One line: what, where and what to do.
  public var description: String {
    let file = path.isEmpty ? "" : "\(path): "
    guard let offset else { return file + context }
    return "\(file)at byte \(offset): \(context)"
  }
}
