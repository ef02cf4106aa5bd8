import Glibc

/// Paths of source files as compilers write them into debug information.
enum SourcePath {
  /// Without `.`, `..` and repeated slashes, by the text alone: builds in a folder of their own name
  /// sources `/repo/build/../src/a.c`, and no forge finds a file by that.
  ///
  /// `..` at the start of a relative path stays.
  static func normalized(_ path: String) -> String {
    var components: [Substring] = []
    let isAbsolute = path.hasPrefix("/")
    for component in path.split(separator: "/") where component != "." {
      if component == "..", let last = components.last, last != ".." {
        components.removeLast()
      } else if component != ".." || !isAbsolute {
        components.append(component)
      }
    }
    return (isAbsolute ? "/" : "") + components.joined(separator: "/")
  }

  /// Without symbolic links; nil when there is no such file here.
  static func resolved(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
