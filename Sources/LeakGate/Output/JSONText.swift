#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Documents of other tools' formats as JSON.
enum JSONText {
  /// With sorted keys, so that equal documents give equal bytes.
  ///
  /// - Parameters:
  ///   - document: The document.
  ///   - isIndented: Whether each value has a line of its own, for people. Of documents with many levels the
  ///     blanks would be half of the bytes.
  /// - Returns: The text, which ends with a newline.
  /// - Throws: `EncodingError` for values that JSON does not have.
  static func of(_ document: some Encodable, isIndented: Bool = true) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
    return String(decoding: try encoder.encode(document), as: UTF8.self) + "\n"
  }
}
