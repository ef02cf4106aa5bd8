import Glibc

/// Lines of source files, as far as the files are at hand and as old as they have to be.
///
/// Belongs to one thread at a time.
final class SourceLines {
  private let newestAt: UInt64?
  private let root: SystemRoot?
  private var files: [String: [Substring]] = [:]

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - newestAt: In nanoseconds since 1970: files changed later are not what was compiled.
  ///   - root: A file system whose files come first; others are in this one, where a program may have been built.
  init(newestAt: UInt64?, root: SystemRoot?) {
    self.newestAt = newestAt
    self.root = root
  }

  /// A line of a file; nil when it is not there.
  func line(_ number: Int, of path: String) -> String? {
    let lines = lines(of: path)
    guard number >= 1, number <= lines.count else { return nil }
    return String(lines[number - 1])
  }

  /// All lines of a file; none when it is not there.
  func lines(of path: String) -> [Substring] {
    let lines = files[path] ?? read(path)
    files[path] = lines
    return lines
  }

  private func read(_ path: String) -> [Substring] {
    guard path.hasPrefix("/") else { return [] }
    let inRoot = root.map { RecordedFile.open($0.place(of: path)) } ?? -1
    let descriptor = inRoot >= 0 ? inRoot : RecordedFile.open(path)
    let bytes = RecordedFile.contents(
      closing: descriptor, upTo: Self.longestFile, where: isOldEnough)
    guard let bytes else { return [] }
    return String(decoding: bytes, as: UTF8.self)
      .split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
  }

  private func isOldEnough(_ status: stat) -> Bool {
    newestAt.map { RecordedFile.changeTime(status) <= $0 } ?? true
  }

  private static let longestFile = 8 << 20
}
