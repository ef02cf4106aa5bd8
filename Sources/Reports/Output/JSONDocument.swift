#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes reports as JSON.
enum JSONDocument {
  /// The document with sorted keys, so that equal reports give equal bytes.
  static func text(of report: some Report) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data = try encoder.encode(Envelope(report: report))
    return String(decoding: data, as: UTF8.self) + "\n"
  }

  /// Puts `schema` and `version` beside the report's own fields.
  private struct Envelope<Body: Report>: Encodable {
    let report: Body

    enum CodingKeys: CodingKey { case schema, version }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(Body.schema, forKey: .schema)
      try container.encode(Body.schemaVersion, forKey: .version)
      try report.encode(to: encoder)
    }
  }
}
