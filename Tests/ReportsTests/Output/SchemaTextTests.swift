import Foundation
import Testing

@testable import Reports

/// `docs/json-schema.md` knows every field that the recorded documents have.
@Suite struct SchemaTextTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()

  /// All that stands in backquotes.
  private static func documentedWords() throws -> Set<String> {
    let file = tests.appending(path: "../../docs/json-schema.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    return Set(text.matches(of: /`([A-Za-z-]+)`/).map { String($0.1) })
  }

  /// The keys of all objects of a document.
  private static func keys(_ value: Any) -> Set<String> {
    if let list = value as? [Any] { return list.reduce(into: []) { $0.formUnion(keys($1)) } }
    guard let object = value as? [String: Any] else { return [] }
    return object.values.reduce(into: Set(object.keys)) { $0.formUnion(keys($1)) }
  }

  @Test func everyFieldIsDocumented() throws {
    let documented = try Self.documentedWords()
    let folder = Self.tests.appending(path: "Snapshots")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    let documents = files.filter { $0.pathExtension == "json" }
    #expect(documents.count >= 16)
    for document in documents {
      let value = try JSONSerialization.jsonObject(with: try Data(contentsOf: document))
      let unknown = Self.keys(value).subtracting(documented)
      #expect(unknown.isEmpty, "\(document.lastPathComponent)")
    }
  }

  @Test func everyLineOfADumpIsDocumented() throws {
    let documented = try Self.documentedWords()
    let file = Self.tests.appending(path: "Snapshots/dump.jsonl")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(!lines.isEmpty)
    for line in lines {
      let unknown = Self.keys(try JSONSerialization.jsonObject(with: Data(line.utf8)))
        .subtracting(documented)
      #expect(unknown.isEmpty, "\(line)")
    }
  }

  @Test func everyCounterIsDocumented() throws {
    #expect(try Set(CoverageSummary.names).subtracting(Self.documentedWords()).isEmpty)
  }
}
