/// Rows as comma-separated values (https://www.rfc-editor.org/rfc/rfc4180): a header row, lines
/// ending in CR LF, quotes around fields that need them.
public struct CSVTable: Sendable {
  /// The names of the columns.
  public let header: [String]
  /// The fields, one array per row.
  public private(set) var rows: [[String]] = []
  /// Rows behind these, of which there may be too many for the memory.
  private let longRows: LongList<[String]>

  /// Makes a table without rows.
  public init(_ header: [String]) {
    self.init(header, rows: LongList())
  }

  /// Makes a table of many rows.
  init(_ header: [String], rows: LongList<[String]>) {
    self.header = header
    longRows = rows
  }

  /// Adds a row.
  public mutating func add(_ fields: [String]) {
    rows.append(fields)
  }

  /// Adds a row.
  package mutating func add(_ fields: any CSVField...) {
    rows.append(Self.row(fields))
  }

  /// The fields of a row.
  static func row(_ fields: [any CSVField]) -> [String] { fields.map(\.csvText) }

  /// The file.
  public var text: String {
    var result = ""
    write { result += $0 }
    return result
  }

  /// Writes the file part by part.
  func write(to sink: (String) throws -> Void) rethrows {
    var text = PartedText(Self.line(header))
    for row in rows { try text.add(Self.line(row), to: sink) }
    for row in longRows { try text.add(Self.line(row), to: sink) }
    try text.end(to: sink)
  }

  private static func line(_ fields: [String]) -> String {
    fields.map(quoted).joined(separator: ",") + "\r\n"
  }

  /// A field with its control characters written out, as in text: line breaks may stay.
  private static func printable(_ field: String) -> String {
    if field.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return field }
    return field.unicodeScalars.map { scalar in
      "\r\n\t".unicodeScalars.contains(scalar) ? String(scalar) : String(scalar).printable
    }.joined()
  }

  private static func quoted(_ field: String) -> String {
    let field = printable(field)
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
