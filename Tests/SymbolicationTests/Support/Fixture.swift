import Foundation
import Testing

@testable import Symbolication

/// A folder of compiled programs that goes away with the object.
final class Fixture {
  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("symbolication-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// The path of a file in the folder.
  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// The path of a source in `Programs`.
  static func source(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Programs/\(name)").path
  }

  /// Compiles one source of `Programs` into the folder and gives the path of the result.
  func compile(
    _ source: String, with compiler: String, _ options: [String] = [], to name: String
  ) throws -> String {
    let output = path(name)
    try Self.run(compiler, options + [Self.source(source), "-o", output])
    return output
  }

  /// Runs a tool found on `PATH` and gives its standard output; a failure is an error.
  @discardableResult
  static func run(_ tool: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(find(tool), "\(tool) is missing"))
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaint = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ToolError(text: "\(tool): \(String(decoding: complaint, as: UTF8.self))")
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The path of a tool, as a shell would find it.
  static func find(_ tool: String) -> String? {
    if tool.contains("/") { return tool }
    let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    return folders.split(separator: ":").map { "\($0)/\(tool)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Address and size of a symbol, from `nm`; the name may be cut with a closure.
  static func symbol(
    in path: String, options: [String] = [], where matches: (String) -> Bool
  ) throws -> (address: UInt64, size: UInt64) {
    for line in try run("nm", ["-S"] + options + [path]).split(separator: "\n") {
      let fields = line.split(separator: " ").map(String.init)
      guard let name = fields.last, matches(name), let address = UInt64(fields[0], radix: 16) else {
        continue
      }
      return (address, fields.count == 4 ? UInt64(fields[1], radix: 16) ?? 0 : 0)
    }
    throw ToolError(text: "no such symbol in \(path)")
  }

  /// Whether the debug files of this machine's C library are installed.
  static var hasLibraryDebugFiles: Bool {
    guard let libc = try? ELFFile(path: "/lib/x86_64-linux-gnu/libc.so.6") else { return false }
    return DebugFileLocator(directories: ["/usr/lib/debug"]).debugFile(of: libc) != nil
  }

  static func symbol(_ name: String, in path: String) throws -> UInt64 {
    try symbol(in: path) { $0 == name }.address
  }
}

struct ToolError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
