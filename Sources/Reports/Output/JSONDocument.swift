#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A report as JSON.
struct JSONDocument {
  /// The document with texts in the places of long lists.
  private let text: String
  private let lists: [LongListPlaceholders.List]

  /// Encodes a report with sorted keys, so that equal reports give equal bytes.
  init(_ report: some Report) throws {
    let lists = LongListPlaceholders()
    let encoder = Self.encoder()
    encoder.userInfo[.longLists] = lists
    text = String(decoding: try encoder.encode(Envelope(report: report)), as: UTF8.self) + "\n"
    self.lists = lists.all
  }

  /// Writes the document part by part; elements of long lists are encoded here, a few at a time.
  func write(to sink: (String) throws -> Void) throws {
    let places = lists.compactMap { list in
      text.firstRange(of: "\"\(list.placeholder)\"").map { (range: $0, list: list) }
    }
    var rest = Substring(text)
    for (range, list) in places.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      let before = rest[..<range.lowerBound]
      try sink(String(before))
      let line = before.lastIndex(of: "\n").map { before[before.index(after: $0)...] } ?? before
      try Self.write(list, indent: line.prefix { $0 == " " }, to: sink)
      rest = rest[range.upperBound...]
    }
    try sink(String(rest))
  }

  private static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  /// Writes the elements of a list as the encoder would in a place with this indentation.
  private static func write(
    _ list: LongListPlaceholders.List, indent: Substring, to sink: (String) throws -> Void
  ) throws {
    let encoder = encoder()
    var isFirst = true
    try list.forEachPart { part in
      // "[\n", the elements with ",\n" after each but the last, "\n]"
      let lines = try encoder.encode(part).dropFirst(2).dropLast(2)
      try sink((isFirst ? "[\n" : ",\n") + indented(lines, by: Array(indent.utf8)))
      isFirst = false
    }
    try sink(isFirst ? "[\n\n\(indent)]" : "\n\(indent)]")
  }

  /// Lines further to the right; those without anything in them stay so.
  private static func indented(_ lines: Data, by indent: [UInt8]) -> String {
    let lineBreak = UInt8(ascii: "\n")
    var result: [UInt8] = []
    result.reserveCapacity(lines.count + lines.count / 4)
    var isAtStart = true
    for byte in lines {
      if isAtStart, byte != lineBreak { result += indent }
      isAtStart = byte == lineBreak
      result.append(byte)
    }
    return String(decoding: result, as: UTF8.self)
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

extension CodingUserInfoKey {
  /// Where the encoder of a document has its ``LongListPlaceholders``.
  static let longLists: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "memtrace.longLists") else {
      preconditionFailure("Every text is a key.")
    }
    return key
  }()
}
