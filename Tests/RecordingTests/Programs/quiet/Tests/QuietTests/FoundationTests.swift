import Foundation
import XCTest

/// What programs use Foundation for.
final class FoundationTests: XCTestCase {
  private struct Entry: Codable, Equatable {
    var name: String
    var date: Date
    var tags: [String: [Int]]
  }

  func testDocumentsComeBackAsTheyWere() throws {
    let entries = (0..<50).map { number in
      Entry(
        name: "entry \(number)", date: Date(timeIntervalSince1970: Double(number) * 1e6),
        tags: ["numbers": [number, number + 1]])
    }
    let data = try JSONEncoder().encode(entries)
    XCTAssertEqual(try JSONDecoder().decode([Entry].self, from: data), entries)
  }

  func testDatesAreWritten() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_GB")
    formatter.timeZone = TimeZone(identifier: "UTC")
    formatter.dateStyle = .long
    XCTAssertEqual(formatter.string(from: Date(timeIntervalSince1970: 0)), "1 January 1970")
  }

  func testFilesAreWrittenAndRead() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("text")
    try "line\n".write(to: file, atomically: true, encoding: .utf8)
    XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), "line\n")
  }

  func testOperationsRunOnOtherThreads() {
    let queue = OperationQueue()
    let lock = NSLock()
    nonisolated(unsafe) var sum = 0
    for number in 1...100 { queue.addOperation { lock.withLock { sum += number } } }
    queue.waitUntilAllOperationsAreFinished()
    XCTAssertEqual(sum, 5050)
  }

  func testOtherProgramsAreRun() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/echo")
    process.arguments = ["hello"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    process.waitUntilExit()
    XCTAssertEqual(pipe.fileHandleForReading.readDataToEndOfFile(), Data("hello\n".utf8))
  }
}
