import SystemPackage
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Compares text with a file in the `Snapshots` folder beside the test.
///
/// With `RECORD_SNAPSHOTS=1` the file is written instead, and the test fails, so that a recording
/// run cannot pass for a green one.
///
/// - Parameters:
///   - text: What the test made.
///   - name: The name of the file.
///   - testFile: The file of the test.
///   - sourceLocation: Where to report a difference.
public func expectSnapshot(
  _ text: String, _ name: String, testFile: String = #filePath,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let path = FilePath(testFile).removingLastComponent().appending("Snapshots").appending(name)
  if getenv("RECORD_SNAPSHOTS") != nil {
    let written = try? FileDescriptor.open(
      path, .writeOnly, options: [.create, .truncate, .closeOnExec],
      permissions: [.ownerReadWrite, .groupRead, .otherRead]
    ).closeAfter { file in try file.writeAll(text.utf8) }
    Issue.record("recorded \(path): \(written ?? 0) bytes", sourceLocation: sourceLocation)
    return
  }
  #expect(text == contents(of: path), sourceLocation: sourceLocation)
}

/// The text of a file, or a note that there is none.
private func contents(of path: FilePath) -> String {
  guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else {
    return "there is no \(path); record it with RECORD_SNAPSHOTS=1"
  }
  defer { try? file.close() }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65536)
  while let count = try? buffer.withUnsafeMutableBytes({ try file.read(into: $0) }), count > 0 {
    bytes += buffer[..<count]
  }
  return String(decoding: bytes, as: UTF8.self)
}

extension FileDescriptor {
  fileprivate func closeAfter<Result>(_ body: (FileDescriptor) throws -> Result) throws -> Result {
    defer { try? close() }
    return try body(self)
  }
}
