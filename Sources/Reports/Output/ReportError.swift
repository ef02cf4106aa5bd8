/// Why a report could not be made.
///
/// The description is one line for the user.
public enum ReportError: Error, Hashable, CustomStringConvertible {
  /// The report has no CSV form.
  case notTabular
  /// An option names something that the trace does not hold.
  case notFound(String)
  /// An option's value cannot be understood.
  case badValue(String)

  /// One line: what is wrong and what would be right.
  public var description: String {
    switch self {
    case .notTabular: "this report is not a table; use --format text or json"
    case .notFound(let message), .badValue(let message): message
    }
  }
}
