import Reports

/// The folder of the repository: paths are told from there.
public struct SourceRoot: Sendable, Hashable {
  /// Its absolute path, the one without symbolic links, and what Bazel's compilers take for it.
  ///
  /// Each ends with a slash.
  private let prefixes: [String]

  /// Makes a root.
  public init(_ path: String) {
    let folders = [SourcePath.normalized(path), SourcePath.resolved(path), "/proc/self/cwd"]
    prefixes = folders.compactMap { $0 }.map { $0.hasSuffix("/") ? $0 : $0 + "/" }
  }

  /// Where a finding is shown: the frame that is held responsible, where that lies in the repository, else the
  /// innermost one of the program's own code that does; nil when none does.
  func place(of finding: Finding) -> Place? {
    if let place = finding.responsible.flatMap(place(of:)), place.isInside { return place }
    let places = finding.frames.compactMap { frame in place(of: frame).map { (frame, $0) } }
    return
      (places.first { $0.0.role == .user && $0.1.isInside }
      ?? places.first { $0.1.isInside })?.1
  }

  /// The place of a frame; nil where its line is not known.
  func place(of frame: ReportFrame) -> Place? {
    guard let file = frame.file, let line = frame.line, line > 0 else { return nil }
    let path = SourcePath.normalized(file)
    guard path.hasPrefix("/") else {
      // Builds that leave their folder out of debug information; the C library's own is one.
      let isInside = frame.role == .user && !path.hasPrefix("../")
      return Place(path: path, line: line, isInside: isInside)
    }
    // Compilers take the working directory from the shell, which leaves symbolic links in it.
    let inside = relative(path) ?? SourcePath.resolved(file).flatMap(relative)
    return Place(path: inside ?? path, line: line, isInside: inside != nil)
  }

  /// The path from the root; nil when it does not lie inside.
  private func relative(_ path: String) -> String? {
    prefixes.first { path.hasPrefix($0) }.map { String(path.dropFirst($0.count)) }
  }

  /// A line of a file.
  struct Place: Sendable, Hashable {
    /// Relative to the root where it lies inside.
    var path: String
    var line: Int
    var isInside: Bool

    /// As a relative reference or a `file:` URI (RFC 3986).
    var uri: String {
      let escaped = path.utf8.map { byte -> String in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          return String(UnicodeScalar(byte))
        default:
          if "-._~/!$&'()*+,;=@".utf8.contains(byte) { return String(UnicodeScalar(byte)) }
          let digits = String(byte, radix: 16, uppercase: true)
          return "%" + (digits.count == 1 ? "0" : "") + digits
        }
      }.joined()
      return path.hasPrefix("/") ? "file://" + escaped : escaped
    }
  }
}
