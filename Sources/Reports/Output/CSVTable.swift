/// Rows as comma-separated values (https://www.rfc-editor.org/rfc/rfc4180): a header row, lines
/// ending in CR LF, quotes around fields that need them.
public struct CSVTable: Sendable, Hashable {
  /// The names of the columns.
  public let header: [String]
  /// The fields, one array per row.
  public private(set) var rows: [[String]] = []

  /// Makes a table without rows.
  public init(_ header: [String]) {
    self.header = header
  }

  /// Adds a row.
  public mutating func add(_ fields: [String]) {
    rows.append(fields)
  }

  /// Adds a row.
  package mutating func add(_ fields: any CSVField...) {
    rows.append(fields.map(\.csvText))
  }

  /// The file.
  public var text: String {
    var result = Self.line(header)
    for row in rows { result += Self.line(row) }
    return result
  }

  private static func line(_ fields: [String]) -> String {
    fields.map(quoted).joined(separator: ",") + "\r\n"
  }

  private static func quoted(_ field: String) -> String {
    // Looked at as bytes: as characters, CR LF would be one that is neither CR nor LF.
    let special = field.utf8.contains { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }
    guard special || field.first == " " || field.last == " " else { return field }
    var result = "\""
    for scalar in field.unicodeScalars {
      if scalar == "\"" { result += "\"" }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }
}

/// What can stand in a field.
package protocol CSVField {
  var csvText: String { get }
}

extension String: CSVField {
  package var csvText: String { self }
}

extension Int: CSVField {
  package var csvText: String { String(self) }
}

extension UInt64: CSVField {
  package var csvText: String { String(self) }
}

extension UInt32: CSVField {
  package var csvText: String { String(self) }
}

extension Bool: CSVField {
  package var csvText: String { self ? "true" : "false" }
}

extension Optional: CSVField where Wrapped: CSVField {
  /// Nothing is an empty field.
  package var csvText: String { self?.csvText ?? "" }
}
