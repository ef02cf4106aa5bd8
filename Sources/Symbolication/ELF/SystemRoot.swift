import Glibc

/// A file system that lies below a folder: that of a container, of a disk image, `/proc/PID/root`.
///
/// Paths in a recording are those that its processes saw, and symbolic links mean what they meant there.
public struct SystemRoot: Sendable {
  /// The folder, without a slash at its end.
  let folder: String

  /// Names a file system; nothing is opened.
  ///
  /// - Parameter folder: Its `/`, as it can be reached from here.
  public init(folder: String) {
    var bytes = folder.utf8[...]
    while bytes.last == Self.slash { bytes.removeLast() }
    self.folder = String(Substring(bytes))
  }

  /// Where a file can be reached from here.
  ///
  /// - Parameter path: As a process in there names it.
  /// - Returns: A path below the folder, without symbolic links below it as far as there are such files.
  func place(of path: String) -> String {
    var waiting: [Substring] = Self.names(in: path).reversed()
    var names: [Substring] = []
    var linkCount = 0
    while let name = waiting.popLast() {
      if name == ".." {
        _ = names.popLast()
      } else if linkCount < Self.mostLinks,
        let target = Self.target(ofLinkAt: join(names + [name]))
      {
        linkCount += 1
        if target.hasPrefix("/") { names = [] }
        waiting += Self.names(in: target).reversed()
      } else {
        names.append(name)
      }
    }
    return join(names)
  }

  /// How a process in there names a file.
  ///
  /// - Parameter place: Where it can be reached from here.
  /// - Returns: nil where it is not below the folder.
  func path(of place: String) -> String? {
    guard place.utf8.starts(with: (folder + "/").utf8) else { return nil }
    return String(decoding: place.utf8.dropFirst(folder.utf8.count), as: UTF8.self)
  }

  private func join(_ names: [Substring]) -> String {
    folder + "/" + names.joined(separator: "/")
  }

  /// The parts of a path that lead on.
  private static func names(in path: String) -> [Substring] {
    path.utf8.split(separator: slash).map { Substring($0) }.filter { $0 != "." }
  }

  private static func target(ofLinkAt path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(path, &buffer, buffer.count)
    guard length > 0 else { return nil }
    return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static let slash = UInt8(ascii: "/")

  /// As many as the kernel follows (path_resolution(7)).
  private static let mostLinks = 40
}
