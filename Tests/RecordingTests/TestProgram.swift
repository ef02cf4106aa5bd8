import Foundation
import SystemPackage
import TraceTestSupport

/// A program from `Programs/`, compiled once per test run.
struct TestProgram: Sendable {
  let path: FilePath

  /// Compiles a program, or takes it from an earlier call.
  ///
  /// - Parameters:
  ///   - source: The name of a file in `Programs`; its extension chooses the compiler.
  ///   - flags: Further flags.
  /// - Throws: ``CompilationFailure`` with the compiler's messages.
  init(_ source: String, flags: [String] = []) throws {
    path = try Self.cache.path(source, flags)
  }

  /// The folder with the sources.
  static let sources = FilePath(#filePath).removingLastComponent().appending("Programs")

  /// The flags of a program that sets marks.
  static let withMarks = [
    "-I"
      + sources.removingLastComponent().removingLastComponent().removingLastComponent()
      .appending("Sources/CMemtrace/include").string
  ]

  /// Whether a program is on the search path.
  static func has(_ tool: String) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
    }
  }

  private static let cache = Cache()

  /// Compiled programs; the lock is held while compiling, so that no program is built twice.
  private final class Cache: @unchecked Sendable {
    private let lock = NSLock()
    private var programs: [String: FilePath] = [:]
    private var directory: ScratchDirectory?

    func path(_ source: String, _ flags: [String]) throws -> FilePath {
      lock.lock()
      defer { lock.unlock() }
      let key = ([source] + flags).joined(separator: " ")
      if let known = programs[key] { return known }
      let folder = try directory ?? ScratchDirectory()
      // Nothing static is ever taken down, so the end of the process has to do it.
      if directory == nil { atexit { TestProgram.cache.removeAll() } }
      directory = folder
      let output = folder.path.appending("\(FilePath(source).stem ?? "program")-\(programs.count)")
      try compile(TestProgram.sources.appending(source), to: output, flags)
      programs[key] = output
      return output
    }

    func removeAll() {
      lock.withLock { directory = nil }
    }

    private func compile(_ source: FilePath, to output: FilePath, _ flags: [String]) throws {
      // No built-ins: a compiler may drop a malloc whose block is freed unused.
      let command =
        switch source.extension {
        case "cpp": ["g++", "-std=c++17", "-g", "-O0", "-fno-builtin", "-w", "-pthread"]
        case "swift": ["swiftc", "-g", "-Onone"]
        case "rs": ["rustc", "-A", "warnings"]
        default: ["gcc", "-g", "-O0", "-fno-builtin", "-w", "-pthread"]
        }
      let libraries = ["swift", "rs"].contains(source.extension) ? [] : ["-ldl"]
      let run = try ProcessRun.run(
        ["/usr/bin/env"] + command + flags + [source.string, "-o", output.string] + libraries,
        timeout: 300)
      guard run.status == 0 else { throw CompilationFailure(messages: run.errorText) }
    }
  }
}

/// A program of the tests that does not compile.
struct CompilationFailure: Error, CustomStringConvertible {
  var messages: String
  var description: String { "a test program does not compile:\n\(messages)" }
}
